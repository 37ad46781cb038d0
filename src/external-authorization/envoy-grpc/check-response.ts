/** Writes `envoy.service.auth.v3.CheckResponse` (external_auth.proto). */

import { ProtobufWriter } from '../../lib/protobuf/protobuf-writer.ts'

/**
 * Values of `HeaderAppendAction`. Older versions of Envoy do not know it: they overwrite, and in denials
 * append.
 */
const APPEND = 0
const OVERWRITE = 2

export interface Changes {
  /** The fields that replace the request's own: name, value, … Values may be empty. */
  readonly set: readonly string[]
  /** The names of the fields to remove. Envoy removes after it sets: no name may be in `set`. */
  readonly remove: readonly string[]
}

/** The request may be forwarded, with these changes of its header fields. */
export function okResponse({ set, remove }: Changes): Buffer {
  return new ProtobufWriter()
    .message(1, () => {})
    .message(3, (ok) => {
      writeHeaders(ok, set)
      for (const name of remove) ok.string(5, name)
    })
    .finish()
}

export interface Denial {
  /** The status of gRPC, not 0. */
  readonly grpcStatus: number
  /** The status of HTTP, for the client. */
  readonly status: number
  /** The fields of the response: name, value, … */
  readonly headers: readonly string[]
  readonly body: string
}

/** The request must not be forwarded, and this is the response to its client. */
export function deniedResponse({ grpcStatus, status, headers, body }: Denial): Buffer {
  if (grpcStatus === 0) throw new Error('a denial needs a status other than 0')
  return new ProtobufWriter()
    .message(1, (rpc) => rpc.uint(1, grpcStatus))
    .message(2, (denied) => {
      denied.message(1, (http) => http.uint(1, status))
      writeHeaders(denied, headers)
      if (body !== '') denied.string(3, body)
    })
    .finish()
}

/**
 * In both kinds of responses the headers have number 2, and are `HeaderValueOption`. Values are latin1, and
 * have to be UTF-8 then: Envoy takes no other response.
 */
function writeHeaders(writer: ProtobufWriter, pairs: readonly string[]): void {
  for (let i = 0; i < pairs.length; i += 2) {
    const name = pairs[i] ?? ''
    const value = Buffer.from(pairs[i + 1] ?? '', 'latin1')
    writer.message(2, (option) => {
      option.message(1, (header) => header.string(1, name).bytes(2, value))
      option.uint(3, isRepeated(pairs, i) ? APPEND : OVERWRITE)
      // `keep_empty_value`: an empty value overwrites the client's.
      if (value.length === 0) option.bool(4, true)
    })
  }
}

/** Whether an earlier pair has the name, such as Set-Cookie. */
function isRepeated(pairs: readonly string[], at: number): boolean {
  for (let i = 0; i < at; i += 2) if (pairs[i] === pairs[at]) return true
  return false
}
