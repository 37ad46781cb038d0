/** Event streams whose right is taken away: a gateway that cuts them, one that goes on, and one that stands still meanwhile. The clock is the test's. */

import { fail } from 'node:assert'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { PlaceClient, type OpenStream } from '../../../src/cli/verify/place-client.ts'
import type { Credential } from '../../../src/cli/verify/expected-answers.ts'
import { OpenStreams } from '../../../src/cli/verify/open-streams.ts'
import { RunRecord } from '../../../src/cli/verify/run-record.ts'
import type { Write } from '../../../src/cli/verify/staleness.ts'
import { listen } from '../../support/listen.ts'
import { until } from '../../support/until.ts'

const EVENT = 'event: decision\ndata: {}\n\n'
const KEY: Credential = { kind: 'key', text: 'sk_of-this-test', id: '1', seatId: '2' }

interface Opened {
  readonly streams: OpenStreams
  readonly record: RunRecord
  readonly why: string | null
  /** The stream, at the server. */
  readonly response: ServerResponse | undefined
  readonly places: readonly string[]
  /** Resolves once its end has arrived. */
  ended(): Promise<void>
  /** Its next event arrives as many ms after the one before, or after what happened last. */
  eventAfter(ms: number): Promise<void>
  /** The right to it is taken now. */
  taken(): Write
  /** What the report names so. */
  untested(): string[]
}

/** One at each of as many places. @param statuses of the answers; 200 is a stream */
async function open(t: Test, ...statuses: readonly number[]): Promise<Opened> {
  const responses: ServerResponse[] = []
  const places = await Promise.all(statuses.map((status) => placeWith(t, status, responses)))
  let now = 0
  const record = new RunRecord(
    places.map(({ name }) => name),
    () => now,
    Date.now(),
  )
  const streams = new OpenStreams(places, record)
  const bodies = places.map(bodyOf)
  const why = await streams.open(KEY)
  const taken = () => {
    // Later than all that was before.
    now++
    const write = {
      operation: 'revoke',
      place: places[0]?.name ?? '',
      began: now,
      answered: now,
      requestId: 'of the write',
    }
    streams.taken(write)
    return write
  }
  const untested = () => record.report([]).not_tested.map(({ what, why }) => `${what}: ${why}`)
  const body = async () => (await bodies[0]) ?? fail('no stream')
  const ended = async () => {
    const stream = await body()
    await new Promise((resolve) => stream.once('close', resolve))
  }
  const eventAfter = async (ms: number) => {
    const arrives = once(await body(), 'data')
    now += ms
    responses[0]?.write(EVENT)
    await arrives
  }
  const names = places.map(({ name }) => name)
  return { streams, record, why, response: responses[0], places: names, ended, eventAfter, taken, untested }
}

/** Of the stream that is opened next. */
function bodyOf(place: PlaceClient): Promise<OpenStream['body'] | null> {
  const open = place.open.bind(place)
  return new Promise((resolve) => {
    place.open = async (credential) => {
      const opened = await open(credential)
      resolve('body' in opened ? opened.body : null)
      return opened
    }
  })
}

async function placeWith(t: Test, status: number, responses: ServerResponse[]): Promise<PlaceClient> {
  const server = createServer((request, answer) => {
    t.match(request.headers, { 'x-api-key': KEY.text, space: 'main', accept: 'text/event-stream' })
    answer.writeHead(status, {
      'content-type': status === 200 ? 'text/event-stream' : 'application/problem+json',
      'x-request-id': 'of the stream',
    })
    const code = status === 404 ? 'route_not_found' : 'unavailable'
    if (status !== 200) answer.end(JSON.stringify({ type: `urn:seatgate:${code}`, code }))
    else {
      responses.push(answer)
      answer.write(EVENT)
    }
  })
  const url = new URL(`http://127.0.0.1:${await listen(t, server)}/prefix`)
  const options = { url, name: url.href, space: 'main', ca: undefined, timeout: 60_000, connections: 1 }
  const place = new PlaceClient(options)
  t.teardown(() => place.close())
  return place
}

t.test('a stream that is cut', async (t) => {
  const { record, why, response, streams, taken } = await open(t, 200)
  t.equal(why, null)
  t.notOk(streams.areEnding)
  taken()
  t.ok(streams.areEnding, 'its right must not come back yet')
  response?.end()
  await until(() => record.report([]).stream_cut_ms.count === 1, 'the cut is seen')
  t.notOk(streams.areEnding)
  t.equal(record.violations, 0)
})

t.test('a stream that is broken off while the write is under way counts as cut at once', async (t) => {
  const { record, response, ended, streams } = await open(t, 200)
  const began = record.now()
  const gone = ended()
  response?.destroy()
  await gone
  streams.taken({ operation: 'revoke', place: 'x', began, answered: began + 500, requestId: '' })
  t.match(record.report([]).stream_cut_ms, { count: 1, max: 0 })
})

t.test('a stream that goes on is a violation', async (t) => {
  const { record, streams, eventAfter, taken } = await open(t, 200)
  await eventAfter(0)
  taken()
  for (let events = 0; events < 4; events++) await eventAfter(500)
  t.equal(record.violations, 0, 'within two seconds')
  await eventAfter(1)
  t.match(record.report([]).violations, [
    {
      kind: 'open_stream',
      answer: 'open',
      ended_ms: 2002,
      request_id: 'of the stream',
      write: { request_id: 'of the write' },
    },
  ])
  t.notOk(streams.areEnding, 'it is judged')
})

t.test('a gateway that stands still has two seconds once it continues', async (t) => {
  const { record, streams, eventAfter, taken } = await open(t, 200)
  await eventAfter(0)
  taken()
  await eventAfter(3000)
  await eventAfter(1000)
  await eventAfter(1000)
  t.equal(record.violations, 0)
  t.ok(streams.areEnding)
  await eventAfter(1)
  t.equal(record.violations, 1)
})

const NONE = 'GET /v1/decisions gives no event stream'

t.test('a gateway that gives no stream while another one does is not tested', async (t) => {
  const { places, why, response, streams, taken, untested } = await open(t, 200, 404, 503)
  t.equal(why, null)
  t.same(untested(), [
    `an open stream at ${places[1]}: ${NONE}: route_not_found`,
    `an open stream at ${places[2]}: ${NONE}: unavailable`,
  ])
  taken()
  response?.end()
  await until(() => !streams.areEnding, 'the cut is seen')
  streams.close()
  t.equal(untested().length, 2, 'the first place is tested')
})

t.test('gateways of which none gives a stream now are not tested', async (t) => {
  const { places, untested } = await open(t, 503, 404)
  t.same(untested(), [
    `an open stream at ${places[0]}: ${NONE}: unavailable`,
    `an open stream at ${places[1]}: ${NONE}: route_not_found`,
  ])
})

t.test('a stream that ended before its right was taken is not tested', async (t) => {
  const { record, response, ended, taken, untested, places } = await open(t, 200)
  response?.end()
  await ended()
  taken()
  t.same(untested(), [`an open stream at ${places[0]}: it ended by itself before its right was taken`])
  t.equal(record.report([]).stream_cut_ms.count, 0)
})

t.test('the run ends before a stream is cut, or before its right is taken', async (t) => {
  const before = await open(t, 200)
  before.streams.close()
  t.same(before.untested(), [
    `an open stream at ${before.places[0]}: the run ended before the right to it was taken`,
  ])
  const after = await open(t, 200)
  after.taken()
  after.streams.close()
  t.same(after.untested(), [`an open stream at ${after.places[0]}: the run ended before it was cut`])
})

t.test('a cycle that is given up: its streams are not tested', async (t) => {
  const { streams, untested, places } = await open(t, 200)
  streams.drop('the reason')
  t.same(untested(), [`an open stream at ${places[0]}: the reason`])
})

t.test('no stream there', async (t) => {
  t.equal((await open(t, 404)).why, 'route_not_found')
  t.equal((await open(t, 503)).why, null, 'there may be one later')
})
