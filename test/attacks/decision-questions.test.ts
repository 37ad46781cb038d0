/** Attacks by a client behind another proxy, which passes the client's fields on to the decision listener. */

import t from 'tap'
import { forwardFields, nginxFields, startAsking } from '../external-authorization/support.ts'
import { roundTrip } from '../support/raw-client.ts'

const { ask, key, port, world } = await startAsking(t)

/** A refusal in the form of gRPC is a 200: an asking proxy would read it as consent. */
t.test('a content type of gRPC does not turn a refusal into a 200', async (t) => {
  for (const type of ['application/grpc', 'application/grpc+proto', 'application/grpc-web']) {
    const fields = { 'content-type': type, te: 'trailers' }
    const answers = [
      await ask('/auth/nginx', { ...nginxFields('POST', '/v1/trainings'), ...fields }),
      await ask('/auth/forward', { ...forwardFields('POST', '/v1/trainings'), ...fields }),
      await ask('/auth/envoy/v1/trainings', fields, 'POST'),
    ]
    for (const { status, json } of answers) {
      t.equal(status, 401, type)
      t.equal(json.code, 'credentials_missing')
    }
  }
})

t.test('credentials in two ways are refused as on the wire', async (t) => {
  const fields = Object.entries({
    ...nginxFields('GET', '/v1/trainings/7'),
    space: 'main',
    'x-api-key': key,
  }).flat()
  t.equal((await ask('/auth/nginx', fields)).status, 200)
  for (const twice of [
    ['x-api-key', key],
    ['authorization', 'Bearer a', 'authorization', 'Bearer b'],
    ['space', 'other'],
  ])
    t.equal((await ask('/auth/nginx', [...fields, ...twice])).status, 400, String(twice[0]))
})

/** Another path than the one that is forwarded must not be decided. */
t.test('an absolute target does not name another host or path', async (t) => {
  const fields = { ...nginxFields('GET', '/v1/trainings/7'), space: 'main', 'x-api-key': key }
  t.equal((await ask('http://127.0.0.1/auth/nginx', fields)).status, 404)
  t.equal((await ask('/auth/envoyhttp://evil/docs/a', {})).status, 404)
})

t.test('forged addresses do not replace the one that the asking proxy adds', async (t) => {
  const forged = [
    'x-forwarded-for',
    '192.0.2.1',
    'x-forwarded-for',
    '192.0.2.2, 203.0.113.7',
    'x-real-ip',
    '192.0.2.3',
  ]
  await ask('/auth/nginx', [...Object.entries(nginxFields('GET', '/docs/a')).flat(), ...forged])
  t.equal(world.log().findLast((each) => 'asked_by' in each)?.client, '203.0.113.7')
})

t.test('a long body of a question does not stay on the connection', async (t) => {
  const hidden = 'GET /auth/nginx HTTP/1.1\r\nHost: hidden\r\n\r\n'
  const head = (more: string) => `POST /auth/envoy/open HTTP/1.1\r\nHost: api\r\n${more}\r\n`
  const short = await roundTrip(
    port,
    `${head(`Connection: close\r\nContent-Length: ${hidden.length}\r\n`)}${hidden}`,
  )
  t.equal(short.match(/HTTP\/1\.1 /g)?.length, 1, 'the body is no request')
  const long = await roundTrip(port, head('Content-Length: 100000000\r\n') + 'x'.repeat(300_000))
  t.equal(long.match(/HTTP\/1\.1 200/g)?.length, 1, 'answered once, then closed')
  t.equal(world.upstream.seen.length, 0)
})
