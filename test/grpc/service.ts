/**
 * A gRPC service of @grpc/grpc-js, with one method of each kind. Messages are texts, so that no description of them is
 * needed. The service notes what it is sent.
 */

import {
  type Metadata,
  Metadata as Fields,
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

interface Call {
  readonly kind: Kind
  readonly metadata: Metadata
  /** Ms since the epoch; Infinity without a deadline. */
  readonly deadline: number
}

interface Started {
  readonly metadata: Metadata
  readonly cancelled: boolean
  getDeadline(): Date | number
  on(event: 'cancelled', listener: () => void): unknown
}

/**
 * `Unary` and each message of `Chat` are echoed; `Collect` answers with all messages; `Count` sends as many messages as
 * asked for. Texts with a meaning: `fail` is answered with status 9 and a trailer, `crash` with a status that needs
 * percent-encoding, `hold` with nothing.
 */
export class Talk {
  readonly calls: Call[] = []
  /** `cancelled` and the kind, `begun` with the kind, `message` with a message of Chat or Collect. */
  readonly events: EventEmitter = new EventEmitter()
  readonly server = new Server()

  constructor() {
    this.server.addService(TALK, {
      Unary: (call: ServerUnaryCall<string, string>, answer: sendUnaryData<string>) => {
        this.#begin('Unary', call)
        call.sendMetadata(initial())
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
        call.sendMetadata(initial())
        const count = Number(call.request)
        for (let i = 1; i <= count; i++) call.write(String(i))
        // Any other text: the stream stays open without a message.
        if (Number.isInteger(count)) call.end(trailing('done'))
      },
      Chat: (call: ServerDuplexStream<string, string>) => {
        this.#begin('Chat', call)
        call.sendMetadata(initial())
        call.on('data', (text: string) => {
          this.events.emit('message', text)
          if (text === 'fail') call.emit('error', failure)
          else if (text !== 'hold') call.write(`${text}!`)
        })
        call.on('end', () => call.end(trailing('done')))
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

  #begin(kind: Kind, call: Started): void {
    const deadline = Number(call.getDeadline())
    this.calls.push({ kind, metadata: call.metadata, deadline })
    call.on('cancelled', () => this.events.emit(`cancelled ${kind}`))
    this.events.emit('begun', kind)
  }

  #answer(text: string, answer: sendUnaryData<string>): void {
    if (text === 'hold') return
    if (text === 'fail') return answer(failure)
    if (text === 'crash') return answer({ code: 13, details: 'a line\nand 100 % of it: ä' })
    answer(null, `${text}!`, trailing('done'))
  }
}

const failure = { name: 'Failure', message: '', code: 9, details: 'not now', metadata: trailing('failed') }

/** A value of each kind: bytes are base64 in a field whose name ends with `-bin`. */
function initial(): Metadata {
  const fields = new Fields()
  fields.set('x-initial', 'first')
  fields.set('x-bytes-bin', Buffer.from([0, 255, 10]))
  return fields
}

function trailing(text: string): Metadata {
  const fields = new Fields()
  fields.set('x-final', text)
  return fields
}
