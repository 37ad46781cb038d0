/**
 * A gRPC service of @grpc/grpc-js, with one method of each kind. Messages are texts, so that no description of them is
 * needed. The service notes what it is sent.
 */

import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { EventEmitter, once } from 'node:events'
import { promisify } from 'node:util'
import type { Test } from 'tap'

export type Kind = 'Unary' | 'Collect' | 'Count' | 'Chat'

const serialize = (text: string) => Buffer.from(text)
const deserialize = (bytes: Buffer) => bytes.toString()
export const codec: readonly [typeof serialize, typeof deserialize] = [serialize, deserialize]

export function pathOf(kind: Kind): string {
  return `/acme.trainings.Talk/${kind}`
}

function methodOf(kind: Kind, requestStream: boolean, responseStream: boolean) {
  return {
    path: pathOf(kind),
    requestStream,
    responseStream,
    requestSerialize: serialize,
    requestDeserialize: deserialize,
    responseSerialize: serialize,
    responseDeserialize: deserialize,
  }
}

const TALK: ServiceDefinition = {
  Unary: methodOf('Unary', false, false),
  Collect: methodOf('Collect', true, false),
  Count: methodOf('Count', false, true),
  Chat: methodOf('Chat', true, true),
}

/** A value of each kind: bytes are base64 in a field whose name ends with `-bin`. */
const INITIAL = Metadata.fromHttp2Headers({ 'x-initial': 'first', 'x-bytes-bin': 'AP8K' })
const DONE = Metadata.fromHttp2Headers({ 'x-final': 'done' })
const FAILED = Metadata.fromHttp2Headers({ 'x-final': 'failed' })
const failure = { name: 'Failure', message: '', code: 9, details: 'not now', metadata: FAILED }

/**
 * `Unary` and each message of `Chat` are echoed; `Collect` answers with all messages; `Count` sends as many messages as
 * asked for. Texts with a meaning: a JSON object is the trailing metadata; `fail` is answered with status 9 and a trailer, `crash` with a status that needs
 * percent-encoding, `hold` with nothing.
 */
export class Talk {
  /** `deadline`: ms since the epoch; Infinity without one. */
  readonly calls: { readonly kind: Kind; readonly metadata: Metadata; readonly deadline: number }[] = []
  /** `cancelled` and the kind, `begun` with the kind, `message` with a message of Chat or Collect. */
  readonly events: EventEmitter = new EventEmitter()
  readonly server = new Server()

  constructor() {
    this.server.addService(TALK, {
      Unary: (call: ServerUnaryCall<string, string>, answer: sendUnaryData<string>) => {
        this.#begin('Unary', call)
        call.sendMetadata(INITIAL)
        this.#answer(call.request, answer)
      },
      Collect: (call: ServerReadableStream<string, string>, answer: sendUnaryData<string>) => {
        this.#begin('Collect', call)
        const texts: string[] = []
        call.on('data', (text: string) => {
          texts.push(text)
          this.events.emit('message', text)
        })
        call.on('end', () => this.#answer(texts.join(' '), answer))
      },
      Count: (call: ServerWritableStream<string, string>) => {
        this.#begin('Count', call)
        call.sendMetadata(INITIAL)
        const count = Number(call.request)
        for (let i = 1; i <= count; i++) call.write(String(i))
        // Any other text: the stream stays open without a message.
        if (Number.isInteger(count)) call.end(DONE)
      },
      Chat: (call: ServerDuplexStream<string, string>) => {
        this.#begin('Chat', call)
        call.sendMetadata(INITIAL)
        call.on('data', (text: string) => {
          this.events.emit('message', text)
          if (text === 'fail') call.emit('error', failure)
          else if (text !== 'hold') call.write(`${text}!`)
        })
        call.on('end', () => call.end(DONE))
      },
    })
  }

  /** Resolves to the kind when the next call of it is cancelled. */
  async cancellation(kind: Kind): Promise<Kind> {
    await once(this.events, `cancelled ${kind}`)
    return kind
  }

  /** Listens on a port of loopback until the test ends. */
  listen(t: Test): Promise<number> {
    t.teardown(() => this.server.forceShutdown())
    const bind = promisify(this.server.bindAsync).bind(this.server)
    return bind('127.0.0.1:0', ServerCredentials.createInsecure())
  }

  #begin(
    kind: Kind,
    call: EventEmitter & Pick<ServerUnaryCall<string, string>, 'metadata' | 'getDeadline'>,
  ): void {
    this.calls.push({ kind, metadata: call.metadata, deadline: Number(call.getDeadline()) })
    call.on('cancelled', () => this.events.emit(`cancelled ${kind}`))
    this.events.emit('begun', kind)
  }

  #answer(text: string, answer: sendUnaryData<string>): void {
    if (text === 'hold') return
    if (text === 'fail') return answer(failure)
    if (text === 'crash') return answer({ code: 13, details: 'a line\nand 100 % of it: ä' })
    answer(null, `${text}!`, text.startsWith('{') ? Metadata.fromHttp2Headers(JSON.parse(text)) : DONE)
  }
}
