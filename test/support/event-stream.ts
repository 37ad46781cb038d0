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

export type EventStream = Awaited<ReturnType<typeof openEventStream>>

/** Resolves with the head of the response. The connection ends with the test. */
export async function openEventStream(
  t: Test,
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
) {
  const sent = { accept: 'text/event-stream', ...headers }
  const outgoing = request({ port, host: '127.0.0.1', path, headers: sent, agent: false })
  outgoing.on('error', () => {}).end()
  t.teardown(() => outgoing.destroy())
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const events: ReceivedEvent[] = []
  let rest = ''
  response.on('error', () => {})
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (event !== undefined && data !== undefined) events.push({ event, data: JSON.parse(data) })
    }
  })
  const dataOf = (name: string) => events.filter(({ event }) => event === name).map(({ data }) => data)
  return {
    response,
    events,
    get decisions(): ReceivedEvent['data'][] {
      return dataOf('decision')
    },
    get lost(): number {
      return dataOf('lost').reduce((sum, data) => sum + Number(data.lost), 0)
    },
    received: (count: number) => until(() => dataOf('decision').length >= count, `${count} decisions`),
    /** Whether the response is complete, and was not cut. */
    atEnd: () => until(() => response.readableEnded, 'the end of the stream'),
  }
}
