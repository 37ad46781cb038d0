/** A problem document ends with a line end, on every way that it takes, and its length counts it. */

import { connect } from 'node:http2'
import t, { type Test } from 'tap'
import { answerOf, ask, openSession, startSecured } from '../http2/support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { readAnswers } from '../support/responses.ts'

const world = await startSecured(t, {
  routes: ['GET /v1/trainings: trainings:list', 'HEAD /v1/trainings: trainings:list'],
})

function isLine(t: Test, body: string, length: unknown): void {
  t.equal(body.indexOf('\n'), body.length - 1, body)
  t.equal(Number(length), Buffer.byteLength(body))
  t.match(JSON.parse(body), { status: Number, request_id: String })
}

t.test('HTTP/1.1, two on one connection, and a HEAD', async (t) => {
  const get = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`
  const client = new RawClient(world.port).send(
    get('GET', '/v1/trainings') + get('HEAD', '/v1/trainings') + get('GET', '/nowhere'),
  )
  await client.until(/"route_not_found"[^]*\n$/)
  client.close()
  const { all, rest } = readAnswers(client.received, [false, true, false])
  t.equal(rest, '')
  const [first, head, last] = all.map(({ body, fields }) => ({
    body,
    length: new Map(fields).get('content-length'),
  }))
  isLine(t, first?.body ?? '', first?.length)
  isLine(t, last?.body ?? '', last?.length)
  t.same(head, { body: '', length: first?.length }, 'the ids of requests have one length')
})

t.test('a request that cannot be read', async (t) => {
  const [answer] = readAnswers(await roundTrip(world.port, 'GET / HTTP/1.1\r\nHost : a\r\n\r\n')).all
  isLine(t, answer?.body ?? '', new Map(answer?.fields).get('content-length'))
})

t.test('HTTP/2', async (t) => {
  const session = openSession(t, world.securePort)
  const got = await ask(session, { ':path': '/v1/trainings' })
  isLine(t, got.body, got.headers['content-length'])
  const head = await ask(session, { ':path': '/v1/trainings', ':method': 'HEAD' })
  t.same([head.body, head.headers['content-length']], ['', got.headers['content-length']])
  const long = await ask(session, { ':path': '/v1/trainings', 'x-long': 'x'.repeat(40_000) })
  isLine(t, long.body, long.headers['content-length'])
})

t.test('HTTP/2 where the listener has none', async (t) => {
  const session = connect(`http://127.0.0.1:${world.port}`).on('error', () => {})
  t.teardown(() => session.destroy())
  const { body, headers } = await answerOf(session.request({ ':path': '/' }))
  isLine(t, body, headers['content-length'])
})
