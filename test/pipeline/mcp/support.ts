/** A gateway with an MCP server behind it, and raw requests for it. */

import type { Test } from 'tap'
import { RawClient } from '../../support/raw-client.ts'
import { startWorld, type World, type WorldOptions } from '../../support/world.ts'

export const VERSION = '2026-07-28'
export const RESOURCE = 'https://gw.example/mcp'

const LINES = [
  'authorization_servers: [https://login.acme.example]',
  'tools: { get_weather: weather:read, delete_user: users:delete, admin/delete: users:delete, ping: public, "grün": weather:read }',
  'prompts: { review: prompts:use }',
  'resources: { "docs://handbook/*": docs:read, "docs://pay": pay:read }',
]

export interface McpOptions extends Omit<WorldOptions, 'routes' | 'tables'> {
  /** Lines of `mcp`, besides path and resource. */
  readonly lines?: readonly string[]
  /** Further lines of the table. */
  readonly table?: readonly string[]
}

/** Space `main` has the Seat `Reader`, which holds `weather:read` and `docs:read`. */
export async function startMcp(t: Test, options: McpOptions = {}): Promise<World> {
  const world = await startWorld(t, { ...options, tables: { 'agents.yaml': agentsTable(options) } })
  await world.seat('Reader', ['main'], ['weather:read', 'docs:read'])
  return world
}

export function agentsTable({ lines = LINES, table = [] }: McpOptions = {}): string {
  const server = ['path: /mcp', `resource: ${RESOURCE}`, ...lines].map((line) => `  ${line}\n`).join('')
  return `upstream: main\nmcp:\n${server}${table.map((line) => `${line}\n`).join('')}`
}

export interface Message {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly id?: unknown
}

/** The message with its version. */
export function messageOf({ method, params = {}, id = 1 }: Message): Record<string, unknown> {
  const meta = { 'io.modelcontextprotocol/protocolVersion': VERSION }
  return { jsonrpc: '2.0', id, method, params: { _meta: meta, ...params } }
}

export interface Sent {
  /** Replaces the bytes of the body. */
  readonly body?: string
  /** Replace or remove the header fields of these names; a list is several lines. */
  readonly fields?: Readonly<Record<string, string | readonly string[] | null>>
  readonly target?: string
  /** The value of Authorization. */
  readonly token?: string | null
}

/** The request as bytes, one character each. */
export function requestOf(
  message: Message,
  { body, fields = {}, target = '/mcp', token = null }: Sent = {},
): string {
  const { params = {} } = message
  const text = body ?? Buffer.from(JSON.stringify(messageOf(message))).toString('latin1')
  const name = params['name'] ?? params['uri']
  const all = {
    Host: 'gw.example',
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': VERSION,
    'Mcp-Method': message.method,
    ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
    ...(token === null ? {} : { Authorization: `Bearer ${token}`, Space: 'main' }),
    'Content-Length': String(text.length),
    ...fields,
  }
  const lines = Object.entries(all).flatMap(([field, value]) =>
    [value].flat().flatMap((each) => (each === null ? [] : `${field}: ${each}\r\n`)),
  )
  return `POST ${target} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

export interface McpAnswer {
  readonly status: number
  readonly fields: readonly (readonly [string, string])[]
  readonly body: string
  readonly json: any // oxlint-disable-line typescript/no-explicit-any -- what a test expects of it
}

/** Sends bytes on a connection of their own, and reads one response. */
export async function roundTrip(world: World, bytes: string): Promise<McpAnswer> {
  const client = new RawClient(world.port)
  client.send(bytes)
  const [answer] = (await client.responses(1)).all
  client.close()
  if (answer === undefined) throw new Error(`no response: ${client.received}`)
  return {
    ...answer,
    json: /json/.test(valueOf(answer.fields, 'content-type') ?? '') ? JSON.parse(answer.body) : null,
  }
}

export function send(world: World, message: Message, sent: Sent = {}): Promise<McpAnswer> {
  return roundTrip(world, requestOf(message, sent))
}

export function valueOf(fields: readonly (readonly [string, string])[], name: string): string | undefined {
  return fields.find(([each]) => each === name)?.[1]
}

export function tool(name: string, more: Readonly<Record<string, unknown>> = {}): Message {
  return { method: 'tools/call', params: { name, arguments: {}, ...more } }
}
