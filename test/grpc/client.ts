/** Calls of the service by @grpc/grpc-js, each with everything that the client learns. */

import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'
import { once } from 'node:events'
import type { Test } from 'tap'
import { codec, pathOf } from './service.ts'

interface Outcome {
  readonly messages: readonly string[]
  readonly initial: Metadata | null
  readonly status: StatusObject
}

export type Chat = ClientDuplexStream<string, string>

export class Caller {
  readonly client: Client
  readonly #metadata: Metadata

  /** @param fields metadata of every call; base64 for names that end with `-bin` */
  constructor(
    t: Test,
    address: string,
    fields: Readonly<Record<string, string>> = {},
    security: ChannelCredentials = credentials.createInsecure(),
  ) {
    this.client = new Client(address, security, {
      'grpc.enable_retries': 0,
      // A connection of its own.
      'grpc.use_local_subchannel_pool': 1,
    })
    this.#metadata = new Metadata()
    for (const [name, value] of Object.entries(fields))
      this.#metadata.set(name, name.endsWith('-bin') ? Buffer.from(value, 'base64') : value)
    t.teardown(() => this.client.close())
  }

  unary(text: string, options: CallOptions = {}): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    let initial: Metadata | null = null
    let message: string | undefined
    const call = this.client.makeUnaryRequest(
      pathOf('Unary'),
      ...codec,
      text,
      this.#metadata,
      options,
      (_: ServiceError | null, answer?: string) => {
        message = answer
      },
    )
    call.on('metadata', (fields: Metadata) => {
      initial = fields
    })
    call.on('status', (status: StatusObject) =>
      setImmediate(() => resolve({ messages: message === undefined ? [] : [message], initial, status })),
    )
    return promise
  }

  async collect(texts: readonly string[]): Promise<{ answer: string | undefined; status: StatusObject }> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const call = this.client.makeClientStreamRequest(
      pathOf('Collect'),
      ...codec,
      this.#metadata,
      {},
      (_: ServiceError | null, answer?: string) => resolve(answer),
    )
    for (const text of texts) call.write(text)
    call.end()
    const [[status], answer] = await Promise.all([once(call, 'status'), promise])
    return { answer, status }
  }

  count(text: string, options: CallOptions = {}) {
    return this.client.makeServerStreamRequest(pathOf('Count'), ...codec, text, this.#metadata, options)
  }

  chat(): Chat {
    return this.client.makeBidiStreamRequest(pathOf('Chat'), ...codec, this.#metadata)
  }
}

interface Incoming {
  on(event: 'data', listener: (text: string) => void): unknown
  on(event: 'metadata', listener: (fields: Metadata) => void): unknown
  on(event: 'status', listener: (status: StatusObject) => void): unknown
  on(event: 'error', listener: () => void): unknown
}

/** Everything until the end of a call with many answers. */
export function whole(call: Incoming): Promise<Outcome> {
  const messages: string[] = []
  let initial: Metadata | null = null
  call.on('data', (text) => messages.push(text))
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
