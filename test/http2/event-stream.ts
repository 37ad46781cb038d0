/** An event stream whose Seat loses its permission. */

import type { RequestListener } from 'node:http'
import type { Test } from 'tap'
import { INTERNAL_ERROR } from '../../src/http/wire/http2/http2-errors.ts'
import { DATA, END_STREAM } from '../../src/http/wire/http2/http2-frames.ts'
import { GET } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'
import type { World } from '../support/world.ts'
import { openRaw } from './support.ts'

export const EVENTS_ROUTE = 'GET /events: trainings:list'

/** One event, and the stream stays open. */
export const firstEvent: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('data: first\n\n')
}

/** The upstream answers with `firstEvent`. @returns ms from the response to the change until the stream was cut */
export async function checkCut(t: Test, world: World): Promise<number> {
  const seat = await world.seat('Clerk', ['s1'], ['trainings:list'])
  const client = await openRaw(t, world.securePort)
  const token = await world.token(['s1:Clerk'])
  const fields = GET.map(([name, value]) => [name, name === ':path' ? '/events' : value] as const)
  client.headers(1, [...fields, ['authorization', `Bearer ${token}`], ['space', 's1']])
  await client.next(({ type }) => type === DATA)
  const { status } = await world.admin('PUT', `/v1/seats/${seat}`, { permissions: [] })
  t.equal(status, 200)
  const changed = performance.now()
  t.equal(await client.reset(1), INTERNAL_ERROR)
  const took = performance.now() - changed
  t.notOk(client.received.some(({ type, flags }) => type === DATA && (flags & END_STREAM) !== 0))
  await until(() => world.log().some(({ code }) => code === 'permission_denied'), 'the line of the log')
  return took
}
