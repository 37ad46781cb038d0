/** Calls of @grpc/grpc-js, each with everything that the client learns. */

import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
  type StatusObject,
} from '@grpc/grpc-js'
import { once } from 'node:events'
import type { Test } from 'tap'
import { codec, type Kind, pathOf } from './service.ts'

interface Outcome<M> {
  readonly messages: readonly M[]
  readonly initial: Metadata | null
  readonly status: StatusObject
}

export type Chat = ClientDuplexStream<string, string>

/** With a connection of its own, which ends with the test. */
export function openClient(
  t: Test,
  address: string,
  security: ChannelCredentials = credentials.createInsecure(),
): Client {
  const options = { 'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1 }
  const client = new Client(address, security, options)
  t.teardown(() => client.close())
  return client
}

/** A client of the service. */
export class Caller {
  readonly #client: Client
  readonly #metadata: Metadata

  /** @param fields metadata of every call; base64 for names that end with `-bin` */
  constructor(
    t: Test,
    address: string,
    fields: Readonly<Record<string, string>> = {},
    security?: ChannelCredentials,
  ) {
    this.#client = openClient(t, address, security)
    this.#metadata = Metadata.fromHttp2Headers(fields)
  }

  unary(text: string, options: CallOptions = {}): Promise<Outcome<string>> {
    return whole(this.#ask('Unary', text, options))
  }

  collect(texts: readonly string[]): Promise<Outcome<string>> {
    const call = this.#stream('Collect')
    for (const text of texts) call.write(text)
    call.end()
    return whole(call)
  }

  count(text: string, options: CallOptions = {}): ClientReadableStream<string> {
    return this.#ask('Count', text, options)
  }

  chat(): Chat {
    return this.#stream('Chat')
  }

  #ask(kind: Kind, text: string, options: CallOptions): ClientReadableStream<string> {
    return this.#client.makeServerStreamRequest(pathOf(kind), ...codec, text, this.#metadata, options)
  }

  #stream(kind: Kind): Chat {
    return this.#client.makeBidiStreamRequest(pathOf(kind), ...codec, this.#metadata)
  }
}

/** Everything until the end of a call. A call with one answer is one with any number of them on the wire. */
export function whole<M>(call: ClientReadableStream<M>): Promise<Outcome<M>> {
  const messages: M[] = []
  let initial: Metadata | null = null
  call.on('data', (message) => messages.push(message))
  call.on('metadata', (fields) => {
    initial = fields
  })
  // The status has it too.
  call.on('error', () => {})
  return new Promise((resolve) => {
    call.on('status', (status) => resolve({ messages, initial, status }))
  })
}

/** The next message of a stream that goes on. */
export async function next(call: Chat): Promise<string> {
  const [text] = await once(call, 'data')
  return text
}
