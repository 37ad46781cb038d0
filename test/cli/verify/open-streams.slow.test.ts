/** Event streams whose right is taken away: a gateway that cuts them, one that goes on, and one that stands still meanwhile. */

import { createServer, type ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { AskedPlace } from '../../../src/cli/verify/asked-place.ts'
import type { Credential } from '../../../src/cli/verify/expected-answers.ts'
import { OpenStreams } from '../../../src/cli/verify/open-streams.ts'
import { RunRecord } from '../../../src/cli/verify/run-record.ts'
import type { Write } from '../../../src/cli/verify/staleness.ts'
import { listen } from '../../support/listen.ts'
import { until } from '../../support/until.ts'

const KEY: Credential = { kind: 'key', text: 'sk_of-this-test', id: '1', seatId: '2' }

interface Opened {
  readonly streams: OpenStreams
  readonly record: RunRecord
  readonly why: string | null
  /** The stream, at the server. */
  readonly response: ServerResponse | undefined
  /** The right to it is taken now. */
  taken(): Write
}

/** @param status of the answer; 200 is a stream */
async function open(t: Test, status = 200): Promise<Opened> {
  let response: ServerResponse | undefined
  const server = createServer((request, answer) => {
    t.match(request.headers, { 'x-api-key': KEY.text, space: 'main', accept: 'text/event-stream' })
    answer.writeHead(status, {
      'content-type': status === 200 ? 'text/event-stream' : 'application/problem+json',
      'x-request-id': 'of the stream',
    })
    if (status !== 200) answer.end('{"code": "route_not_found"}')
    else {
      response = answer
      answer.write('event: decision\ndata: {}\n\n')
    }
  })
  const url = new URL(`http://127.0.0.1:${await listen(t, server)}/prefix`)
  const options = { url, name: url.href, space: 'main', ca: undefined, timeout: 60_000, connections: 1 }
  const place = new AskedPlace(options)
  t.teardown(() => place.close())
  const record = new RunRecord([url.href], () => performance.now(), Date.now())
  const streams = new OpenStreams([place], record)
  const why = await streams.open(KEY)
  const taken = () => {
    const now = performance.now()
    const write = {
      operation: 'revoke',
      place: url.href,
      began: now - 1,
      answered: now,
      requestId: 'of the write',
    }
    streams.taken(write)
    return write
  }
  return { streams, record, why, response, taken }
}

/** Events at short intervals, for this many ms. */
async function deliver(response: ServerResponse | undefined, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(100))
    response?.write('event: decision\ndata: {}\n\n')
}

t.test('a stream that is cut', async (t) => {
  const { record, why, response, streams, taken } = await open(t)
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
  const { record, response, streams } = await open(t)
  const began = performance.now()
  response?.destroy()
  await sleep(500)
  streams.taken({ operation: 'revoke', place: 'x', began, answered: performance.now(), requestId: '' })
  t.match(record.report([]).stream_cut_ms, { count: 1, max: 0 })
})

t.test('a stream that goes on is a violation', async (t) => {
  const { record, response, streams, taken } = await open(t)
  taken()
  await deliver(response, 1500)
  t.equal(record.violations, 0, 'within two seconds')
  await deliver(response, 2000)
  t.match(record.report([]).violations, [
    {
      kind: 'open_stream',
      answer: 'open',
      request_id: 'of the stream',
      write: { request_id: 'of the write' },
    },
  ])
  t.notOk(streams.areEnding, 'it is judged')
})

t.test('a gateway that stands still has two seconds once it continues', async (t) => {
  const { record, response, taken } = await open(t)
  taken()
  await sleep(3000)
  await deliver(response, 1000)
  response?.end()
  await until(() => record.report([]).stream_cut_ms.count === 1, 'the cut is seen')
  t.equal(record.violations, 0)
})

t.test('no stream there', async (t) => {
  t.equal((await open(t, 404)).why, 'route_not_found')
  t.equal((await open(t, 503)).why, null, 'there may be one later')
})
