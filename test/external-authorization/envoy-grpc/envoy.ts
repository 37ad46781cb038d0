/**
 * Envoy's questions as its check_request_utils.cc makes them (`CheckRequestUtils::createHttpCheck`), and what its filter
 * does with the answer (ext_authz.cc: headers are set, then removed).
 */

import { Metadata } from '@grpc/grpc-js'
import { loadSync, type MethodDefinition } from '@grpc/proto-loader'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openClient, whole } from '../../grpc/client.ts'
import { until } from '../../support/until.ts'
import type { World, WorldOptions } from '../../support/world.ts'
import { startAsking } from '../support.ts'

const { Check } = loadSync(join(import.meta.dirname, 'authorization.proto'), {
  keepCase: true,
  longs: Number,
  defaults: true,
})['envoy.service.auth.v3.Authorization'] as Readonly<
  Record<'Check', MethodDefinition<object, object, object, CheckResponse>>
>

export const serialized: (message: object) => Buffer = Check.requestSerialize
/** An answer; a part that it has not is null or undefined. */
export const deserialized: (bytes: Buffer) => CheckResponse = Check.responseDeserialize

/** The request that a client sends to Envoy. */
export interface ClientsRequest {
  readonly method?: string
  readonly path?: string
  readonly host?: string
  readonly protocol?: string
  /** Lines in order, names in lower case; values are latin1. */
  readonly headers?: readonly (readonly [string, string])[]
  readonly address?: string
}

interface Option {
  readonly header: { readonly key: string; readonly value: string }
  readonly append_action: number
  readonly keep_empty_value: boolean
}

export interface CheckResponse {
  readonly status: { readonly code: number } | null
  readonly denied_response?: {
    readonly status: { readonly code: number }
    readonly headers: readonly Option[]
    readonly body: string
  } | null
  readonly ok_response?: {
    readonly headers: readonly Option[]
    readonly headers_to_remove: readonly string[]
  } | null
}

/** Envoy replaces bytes that are no UTF-8 (`MessageUtil::sanitizeUtf8String`). */
function sanitized(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8').replaceAll('\ufffd', '!')
}

/** The message as an object. @param isRaw `encode_raw_headers` */
export function checkRequest(request: ClientsRequest, isRaw = true): object {
  const { method = 'GET', path = '/v1/trainings/7', host = 'api.example.com' } = request
  const lines = [
    [':authority', host],
    [':path', path],
    [':method', method],
    [':scheme', 'https'],
    ...(request.headers ?? []),
  ] as const
  const map = lines.map(([key, value]) => ({ key, raw_value: Buffer.from(value, 'latin1') }))
  const http = {
    id: '4711',
    method: sanitized(method),
    path: sanitized(path),
    host: sanitized(host),
    scheme: 'https',
    size: -1,
    protocol: request.protocol ?? 'HTTP/1.1',
    ...(isRaw ? { header_map: { headers: map } } : { headers: merged(lines) }),
  }
  const socket_address = { address: request.address ?? '203.0.113.9', port_value: 50_000 }
  return {
    attributes: {
      source: { address: { socket_address } },
      destination: { address: { socket_address: { address: '10.0.0.1', port_value: 443 } } },
      request: { time: { seconds: 1_764_000_000, nanos: 5 }, http },
      context_extensions: { virtual_host: 'api' },
    },
  }
}

function merged(lines: readonly (readonly [string, string])[]): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of lines)
    fields[name] = name in fields ? `${fields[name]},${sanitized(value)}` : sanitized(value)
  return fields
}

export class Envoy {
  readonly #client

  constructor(t: Test, port: number) {
    this.#client = openClient(t, `127.0.0.1:${port}`)
  }

  /** The answer to a question; throws where the call fails. */
  async check(request: ClientsRequest, isRaw = true, metadata = new Metadata()): Promise<CheckResponse> {
    const { status, answer } = await this.send(serialized(checkRequest(request, isRaw)), { metadata })
    if (answer === null) throw new Error(`the call failed: ${status.code} ${status.details}`)
    return answer
  }

  /** @param message the bytes of a CheckRequest, or any others @returns `bytes` of the answer's message */
  async send(message: Buffer, { path = Check.path, metadata = new Metadata() } = {}) {
    const asIs = (bytes: Buffer) => bytes
    const call = this.#client.makeServerStreamRequest(path, asIs, asIs, message, metadata)
    const { messages, status } = await whole(call)
    const [bytes, second] = messages
    if (second !== undefined) throw new Error('two answers to one question')
    return { status, answer: bytes === undefined ? null : deserialized(bytes), bytes: bytes?.length ?? 0 }
  }
}

/** A gateway that Envoy asks. */
export async function startEnvoy(t: Test, options: WorldOptions = {}) {
  const asking = await startAsking(t, options)
  /** Credential and space, which allow GET /v1/trainings/7. */
  const headers = [['x-api-key', asking.key] as const, ['space', 'main'] as const]
  return { ...asking, envoy: new Envoy(t, asking.port), headers }
}

/** The line of a question in the log. It is written after the answer. */
export function loggedLine(
  world: World,
  holds: (line: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  return until(
    () => world.log().find((line) => line.asked_by === 'envoy-grpc' && holds(line)),
    () => `no question of Envoy in the log is the one: ${holds}`,
  )
}

/** The header fields that the upstream gets: null where Envoy refuses the request. Names in lower case. */
export function forwardedHeaders(
  request: ClientsRequest,
  { status, ok_response }: CheckResponse,
): Map<string, string[]> | null {
  if (status?.code !== 0) return null
  const fields = new Map<string, string[]>()
  for (const [name, value] of request.headers ?? []) fields.set(name, [...(fields.get(name) ?? []), value])
  for (const { header, append_action } of ok_response?.headers ?? []) {
    if (append_action !== 2) throw new Error('Envoy appends by any other action')
    fields.set(header.key, [header.value])
  }
  for (const name of ok_response?.headers_to_remove ?? []) fields.delete(name)
  return fields
}

/** The response to the client. */
export function deniedResponse({ status, denied_response }: CheckResponse) {
  if (status === null || status.code === 0 || denied_response === undefined || denied_response === null)
    throw new Error('the request is not denied')
  const headers = Object.fromEntries(denied_response.headers.map(({ header }) => [header.key, header.value]))
  return { grpcStatus: status.code, status: denied_response.status.code, headers, body: denied_response.body }
}
