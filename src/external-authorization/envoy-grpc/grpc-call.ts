/** A unary call of gRPC over HTTP/2 (PROTOCOL-HTTP2.md of gRPC): its head, its one message, its end. */

import type { BodySink, ClientRequest } from '../../http/server/client-request.ts'
import type { ClientResponse } from '../../http/server/client-response.ts'
import { percentEncoded, speaksGrpc } from '../../http/server/grpc-problem.ts'
import { fieldName } from '../../http/wire/field-name.ts'
import { ResponseFields } from '../../http/wire/response-fields.ts'
import { Refusal } from '../../model/errors.ts'

/** Statuses of gRPC (statuscodes.md). */
const INVALID_ARGUMENT = 3
const UNIMPLEMENTED = 12

/** Why a call has no message that can be read: a mistake of the calling program. */
export class CallFault {
  /** The status of gRPC, not 0. */
  readonly status: number
  readonly message: string

  constructor(status: number, message: string) {
    this.status = status
    this.message = message
  }
}

export function invalidMessage(detail: string): CallFault {
  return new CallFault(INVALID_ARGUMENT, detail)
}

const ENCODING = fieldName('grpc-encoding')
const compressed = new CallFault(UNIMPLEMENTED, 'compressed messages are not supported')
const notOne = new CallFault(UNIMPLEMENTED, 'the call has not exactly one message')
/** A client may have made the message large, so the call does not fail: see `CheckQuestion.refuse`. */
const tooLarge = new Refusal('body_too_large', 'The question about the request is too large.')

/**
 * Whether it is a call of gRPC, whose responses have a status of their own. Other programs read the status of
 * HTTP.
 */
export function isCall(request: ClientRequest): boolean {
  return request.method === 'POST' && speaksGrpc(request)
}

/** The fault of the header section; null if a message may follow. */
export function headFault({ section }: ClientRequest): CallFault | null {
  return section.fields.values(ENCODING).every((name) => name === 'identity') ? null : compressed
}

/** The bytes before a message: a flag and the length. */
const PREFIX_BYTES = 5

type Message = Buffer | CallFault | Refusal

/** Reads the message of a call. Calls back once, or never if the client goes away. */
export class UnaryMessage implements BodySink {
  readonly #maxBytes: number
  readonly #done: (message: Message) => void
  readonly #chunks: Buffer[] = []
  #length = 0
  #isDone = false

  constructor(maxBytes: number, done: (message: Message) => void) {
    this.#maxBytes = maxBytes
    this.#done = done
  }

  data(chunk: Buffer): void {
    if (this.#isDone) return
    this.#length += chunk.length
    this.#chunks.push(chunk)
    if (this.#length > PREFIX_BYTES + this.#maxBytes) this.#finish(tooLarge)
  }

  end(): void {
    if (!this.#isDone) this.#finish(messageOf(Buffer.concat(this.#chunks)))
  }

  aborted(): void {
    this.#isDone = true
    this.#chunks.length = 0
  }

  #finish(message: Message): void {
    this.#isDone = true
    this.#chunks.length = 0
    this.#done(message)
  }
}

function messageOf(body: Buffer): Buffer | CallFault {
  if (body.length < PREFIX_BYTES) return notOne
  if (body[0] !== 0) return compressed
  return body.readUInt32BE(1) === body.length - PREFIX_BYTES ? body.subarray(PREFIX_BYTES) : notOne
}

/**
 * Ends the call with a message and status 0.
 *
 * @returns bytes of the body
 */
export function respondMessage(response: ClientResponse, message: Buffer): number {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  response.writeHead(200, ResponseFields.of(['content-type', 'application/grpc']))
  response.end(Buffer.concat([prefix, message]), ['grpc-status', '0'])
  return PREFIX_BYTES + message.length
}

/** Ends the call with another status, and no message ("Trailers-Only"). */
export function respondFault(response: ClientResponse, { status, message }: CallFault): void {
  const fields = ['content-type', 'application/grpc', 'grpc-status', String(status)]
  response.writeHead(200, ResponseFields.of([...fields, 'grpc-message', percentEncoded(message)]))
  response.end()
}
