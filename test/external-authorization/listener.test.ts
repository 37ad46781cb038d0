/** The decision listener itself: its peers, its protocols, its paths. */

import { once } from 'node:events'
import { connect } from 'node:http2'
import { createConnection } from 'node:net'
import t from 'tap'
import { CANCEL } from '../../src/http/wire/http2/http2-errors.ts'
import { RST_STREAM } from '../../src/http/wire/http2/http2-frames.ts'
import { holdTime } from '../support/held-time.ts'
import { GET } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { decisionPort, nginxFields, openHttp2, startAsking } from './support.ts'
import { roundTrip } from '../support/raw-client.ts'

const { ask, key, keyId, port, world } = await startAsking(t)

t.test('answers a question with the decision and the identity', async (t) => {
  const allowed = await ask('/auth/nginx', {
    ...nginxFields('GET', '/v1/trainings/7?a=b'),
    'x-api-key': key,
    space: 'main',
  })
  t.equal(allowed.status, 200)
  t.equal(allowed.body, '')
  const { headers } = allowed
  t.match(headers, {
    'x-seatgate-tenant': 'acme',
    'x-seatgate-user': keyId,
    'x-seatgate-space': 'main',
    'x-seatgate-seats': 'reader',
    'x-seatgate-permission': 'trainings:read',
    'x-seatgate-auth': 'api-key',
    'x-seatgate-email': '',
    'cache-control': 'no-store',
  })
  const denied = await ask('/auth/nginx', {
    ...nginxFields('DELETE', '/v1/trainings/7'),
    'x-api-key': key,
    space: 'main',
  })
  t.equal(denied.status, 403)
  t.equal(denied.json.code, 'permission_denied')
  const nobody = await ask('/auth/nginx', nginxFields('GET', '/v1/trainings/7'))
  t.equal(nobody.status, 401)
  t.match(nobody.headers['www-authenticate'], /^Bearer/)
  t.equal(nobody.headers['content-type'], 'application/problem+json')
  t.equal((await ask('/auth/nginx', nginxFields('GET', '/nowhere'))).status, 404)
})

t.test('accepts HTTP/2 with prior knowledge on the same port', async (t) => {
  const session = connect(`http://127.0.0.1:${port}`)
  t.teardown(() => session.destroy())
  const answers = await Promise.all(
    ['GET', 'DELETE'].map(async (method) => {
      const stream = session.request({
        ':path': '/auth/nginx',
        ...nginxFields(method, '/v1/trainings/7'),
        'x-api-key': key,
        space: 'main',
      })
      const [headers] = await once(stream, 'response')
      stream.resume()
      await once(stream, 'end')
      return headers[':status']
    }),
  )
  t.same(answers, [200, 403])
})

t.test('clients that leave do not end the connection that their proxy shares among all', async (t) => {
  // The budget of resets refills with time.
  holdTime(t)
  const proxy = openHttp2(t, port)
  const fields = Object.entries({ ...nginxFields('GET', '/v1/trainings/7'), 'x-api-key': key, space: 'main' })
  const question = [...GET.slice(0, 3), [':path', '/auth/nginx'] as const, ...fields]
  // More than the budget of a client, which is 1,000.
  for (let stream = 1; stream < 4000; stream += 2) {
    proxy.headers(stream, question).frame(RST_STREAM, 0, stream, [0, 0, 0, CANCEL])
    if (stream % 200 === 1) await proxy.settled()
  }
  t.equal(await proxy.headers(4001, question).outcome(4001), 'status 200')
})

t.test('tells the versions apart however the bytes arrive', async (t) => {
  const http1 = 'PROPFIND /auth/nginx HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  t.match(await inPieces(port, http1), /^HTTP\/1\.1 400 /)
  const http2 = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'\0'.repeat(3)}\x04${'\0'.repeat(5)}`
  const settings = await inPieces(port, http2)
  t.equal(settings.charCodeAt(3), 4, 'the first frame is SETTINGS')
  t.match(
    await inPieces(port, 'PRI / HTTP/1.1\r\nHost: x\r\n\r\n'),
    /^(?!HTTP)/,
    'another preface gets GOAWAY',
  )
})

/** Sends each byte when the one before it has left. Resolves with the first bytes of the answer. */
function inPieces(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1')
    socket.setNoDelay(true).on('error', reject)
    socket.once('data', (chunk) => {
      resolve(chunk.toString('latin1'))
      socket.destroy()
    })
    const send = (at: number) => {
      if (at < text.length && socket.writable)
        socket.write(Buffer.from(text[at] ?? '', 'latin1'), () => setImmediate(send, at + 1))
    }
    send(0)
  })
}

t.test('refuses peers that are not in clients, and closes their connections', async (t) => {
  const world = await startWorld(t, { top: ['decision: { listen: 127.0.0.1:0, clients: [10.0.0.0/8] }'] })
  const answer = await roundTrip(decisionPort(world), 'GET /auth/nginx HTTP/1.1\r\nHost: x\r\n\r\n')
  t.match(answer, /^HTTP\/1\.1 403 [^]*"code":"peer_refused"/)
  const line = () => world.log().find(({ code }) => code === 'peer_refused')
  await until(() => line() !== undefined, 'the line of the log')
  t.match(line(), { status: 403, client: '127.0.0.1' })
})

t.test('names a port that is taken', async (t) => {
  const started = startWorld(t, { top: [`decision: { listen: 127.0.0.1:${world.port} }`] })
  await t.rejects(started, {
    message: new RegExp(`decision\\.listen: port ${world.port} of 127\\.0\\.0\\.1 is in use`),
  })
})

t.test('HEAD has the answer without a body, and the connection stays', async (t) => {
  const head = await ask('/auth/nginx', nginxFields('GET', '/v1/trainings/7'), 'HEAD')
  t.equal(head.status, 401)
  t.match(head.headers, { 'content-type': 'application/problem+json', connection: 'keep-alive' })
  const two =
    'HEAD /auth/nginx HTTP/1.1\r\nHost: a\r\nX-Original-Method: GET\r\nX-Original-URL: http://a/none\r\n\r\n'
  const text = await roundTrip(port, two + two, /404[^]*404[^]*\r\n\r\n/)
  t.equal(text.match(/HTTP\/1\.1 404/g)?.length, 2)
  t.notMatch(text, /"code"/)
})
