/**
 * Reads a message of MCP (revision 2026-07-28, Streamable HTTP) and compares it with the header fields that
 * mirror it. Whatever two readers could see differently is refused: other programs route, log and limit by
 * the fields, and the server calls what the body says.
 */

import type { McpError } from '../../http/server/mcp-exchange.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { RequestFields } from '../../model/authorization-request.ts'
import { LISTEN, type McpCall, NAMING_METHODS } from '../../model/mcp.ts'

export const VERSIONS: readonly string[] = ['2026-07-28']
const HEADER_MISMATCH = -32020
const UNSUPPORTED_VERSION = -32022
const VERSION_MEMBER = 'io.modelcontextprotocol/protocolVersion'
/** Characters of an id, which each refusal repeats. */
const MAX_ID = 1024

type Id = string | number
type Members = Readonly<Record<string, unknown>>

export interface McpMessage {
  readonly id: Id | null
  /** What it calls, or the error to answer. */
  readonly call: McpCall | McpError
}

/** @param value the JSON of the body */
export function readMessage(value: unknown, fields: RequestFields): McpMessage {
  // A list of several messages is a batch, which earlier revisions had.
  if (!isJsonObject(value)) return { id: null, call: mismatch('The body is not one JSON object.') }
  const id = idOf(value)
  return { id, call: callIn(value, id, fields) }
}

export function isError(call: McpCall | McpError): call is McpError {
  return 'code' in call
}

export function mismatch(message: string): McpError {
  return { code: HEADER_MISMATCH, message, data: {} }
}

function idOf({ id }: Members): Id | null {
  if (typeof id === 'string') return id.length <= MAX_ID ? id : null
  return Number.isSafeInteger(id) ? (id as number) : null
}

const TOP = ['jsonrpc', 'id', 'method', 'params']
const PARAMS = ['name', 'uri', '_meta', 'notifications']

function callIn(message: Members, id: Id | null, fields: RequestFields): McpCall | McpError {
  const { jsonrpc, method, params = {} } = message
  if (jsonrpc !== '2.0') return mismatch('The body is not a message of JSON-RPC 2.0.')
  if (typeof method !== 'string' || !isJsonObject(params))
    return mismatch('The message has no method, or its params are no object.')
  if ('result' in message || 'error' in message) return mismatch('The message is a response.')
  const { _meta: meta = {}, notifications = {} } = params
  if (!isJsonObject(meta) || !isJsonObject(notifications))
    return mismatch('_meta or notifications of the message is no object.')
  const spelled =
    hasOneSpelling(message, TOP) &&
    hasOneSpelling(params, PARAMS) &&
    hasOneSpelling(meta, [VERSION_MEMBER]) &&
    hasOneSpelling(notifications, ['resourceSubscriptions'])
  if (!spelled) return mismatch('The message has a member in another case.')
  const version = meta[VERSION_MEMBER]
  const differs = differenceOf(method, params, version, fields)
  if (differs !== null) return mismatch(differs)
  if (typeof version !== 'string' || !VERSIONS.includes(version)) return unsupported(version)
  // Without an id it is a notification. No line has one.
  if (id === null && !method.startsWith('notifications/'))
    return mismatch('The id of the message is neither a text nor a whole number.')
  const uris = method === LISTEN ? urisOf(notifications) : []
  if (uris === null) return mismatch('resourceSubscriptions of the message is no list of URIs.')
  return { method, name: nameIn(method, params), uris }
}

function unsupported(requested: unknown): McpError {
  return {
    code: UNSUPPORTED_VERSION,
    message: 'The protocol version is not supported.',
    data: { supported: VERSIONS, requested },
  }
}

/**
 * Whether no member is another spelling of a name or of another member: readers that ignore case, as that of
 * Go does, would take it. Characters such as `ſ` and `K` (Kelvin) are letters in another case too.
 */
export function hasOneSpelling(members: Members, names: readonly string[]): boolean {
  const exact = new Set(names)
  const spellings = new Set(names.map(folded))
  for (const name of Object.keys(members)) {
    if (exact.has(name)) continue
    const spelling = folded(name)
    if (spellings.has(spelling)) return false
    spellings.add(spelling)
  }
  return true
}

function folded(name: string): string {
  return name.toUpperCase().toLowerCase()
}

/** What header fields and message say differently, as a sentence; null: nothing. */
function differenceOf(
  method: string,
  params: Members,
  version: unknown,
  fields: RequestFields,
): string | null {
  if (oneLine(fields, 'mcp-protocol-version') !== version)
    return 'MCP-Protocol-Version is not the protocolVersion in _meta of the message, or one is missing.'
  if (oneLine(fields, 'mcp-method') !== method) return 'Mcp-Method is not the method of the message.'
  const isNaming = NAMING_METHODS.has(method)
  const lines = fields.linesOf('mcp-name')
  if (!isNaming) return lines.length === 0 ? null : 'Mcp-Name is sent with a method that has no name.'
  const name = nameIn(method, params)
  if (name === null || !name.isWellFormed()) return 'The message does not say what is called.'
  return decoded(oneLine(fields, 'mcp-name')) === name ? null : 'Mcp-Name is not the name in the message.'
}

/** The value of a field with one line. */
function oneLine(fields: RequestFields, name: string): string | undefined {
  const lines = fields.linesOf(name)
  return lines !== 'other spelling' && lines.length === 1 ? lines[0] : undefined
}

function nameIn(method: string, params: Members): string | null {
  const naming = NAMING_METHODS.get(method)
  const name = naming === undefined ? null : params[naming.member]
  return typeof name === 'string' ? name : null
}

const ENCODED = /^=\?base64\?(.*)\?=$/s

/** Null: the value is in no form that a client may send. */
function decoded(value: string | undefined): string | null {
  // Visible ASCII and spaces (RFC 9110, section 5.5).
  if (value === undefined || !/^[ -~]*$/.test(value)) return null
  const [, base64] = ENCODED.exec(value) ?? []
  if (base64 === undefined) return value
  const bytes = Buffer.from(base64, 'base64')
  const text = bytes.toString()
  // Other spellings of the same bytes, and other bytes for the same text.
  return bytes.toString('base64') === base64 && bytes.equals(Buffer.from(text)) ? text : null
}

/** Null: it is no list of URIs. */
function urisOf({ resourceSubscriptions: uris = [] }: Members): string[] | null {
  const isList = Array.isArray(uris) && uris.every((each) => typeof each === 'string' && each.isWellFormed())
  return isList ? uris : null
}
