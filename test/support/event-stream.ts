/** A client that reads server-sent events from a gateway. */

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Test } from 'tap'
import { until } from './until.ts'

export interface ReceivedEvent {
  readonly event: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into events of any shape
  readonly data: any
}

export class EventStreamClient {
  readonly response: IncomingMessage
  readonly events: ReceivedEvent[] = []
  /** The response is complete: not cut. */
  ended = false
  #rest = ''

  private constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#read(text))
    response.on('end', () => {
      this.ended = true
    })
    response.on('error', () => {})
  }

  /** Resolves with the head of the response. The connection ends with the test. */
  static async open(
    t: Test,
    port: number,
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<EventStreamClient> {
    const sent = { accept: 'text/event-stream', ...headers }
    const outgoing = request({ port, host: '127.0.0.1', path, headers: sent, agent: false })
    outgoing.on('error', () => {}).end()
    t.teardown(() => outgoing.destroy())
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    return new EventStreamClient(response)
  }

  get decisions(): ReceivedEvent['data'][] {
    return this.events.filter(({ event }) => event === 'decision').map(({ data }) => data)
  }

  get lost(): number {
    return this.events
      .filter(({ event }) => event === 'lost')
      .reduce((sum, { data }) => sum + Number(data.lost), 0)
  }

  async received(count: number): Promise<void> {
    await until(() => this.decisions.length >= count, `${count} decisions`)
  }

  async atEnd(): Promise<void> {
    await until(() => this.ended, 'the end of the stream')
  }

  #read(text: string): void {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (event !== undefined && data !== undefined) this.events.push({ event, data: JSON.parse(data) })
    }
  }
}
