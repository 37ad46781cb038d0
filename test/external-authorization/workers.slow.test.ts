/** Questions to several workers, and configurations that change. */

import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { REFUSED_STREAM } from '../../src/http/wire/http2/http2-errors.ts'
import { DATA, END_STREAM, GOAWAY } from '../../src/http/wire/http2/http2-frames.ts'
import { Client } from '../support/client.ts'
import { RawClient } from '../support/raw-client.ts'
import { POST } from '../support/raw-http2.ts'
import { served } from '../support/served.ts'
import { checkRequest, serialized } from './envoy-grpc/envoy.ts'
import { nginxFields, openHttp2, startAsking } from './support.ts'

t.test('workers share the port, and a revocation holds on each of them', async (t) => {
  const { world, port } = await startAsking(t, { top: ['workers: 2'] })
  // The kernel chooses the worker of each connection.
  const clients = Array.from({ length: 8 }, () => new Client(port))
  t.teardown(() => clients.forEach((client) => client.close()))
  for (let round = 0; round < 2; round++) {
    const body = { name: `round ${round}`, seats: ['reader'] }
    const made = await served(() => world.admin('POST', '/v1/api-keys', body))
    const fields = { ...nginxFields('GET', '/v1/trainings/7'), 'x-api-key': made.json.key, space: 'main' }
    const statusOf = async (client: Client) =>
      (await served(() => client.send('GET', '/auth/nginx', fields))).status
    const statuses = () => Promise.all(clients.map(statusOf))
    t.same(
      await statuses(),
      clients.map(() => 200),
    )
    const removed = await served(() => world.admin('DELETE', `/v1/api-keys/${made.json.id}`))
    t.equal(removed.status, 204)
    t.same(
      await statuses(),
      clients.map(() => 401),
    )
  }
})

t.test('open connections of a peer that is no longer in clients take no further question', async (t) => {
  const { world, port } = await startAsking(t)
  const question = (path: string) =>
    `GET /auth/nginx HTTP/1.1\r\nHost: a\r\nX-Original-Method: GET\r\nX-Original-URL: http://a${path}\r\n\r\n`
  const idle = new RawClient(port).send(question('/docs/a'))
  await idle.until('200 OK')
  const sending = new RawClient(port).send(question('/docs/a'))
  await sending.until('200 OK')
  sending.send(question('/docs/b').slice(0, 40))
  const idleOfHttp2 = openHttp2(t, port)
  await idleOfHttp2.settled()
  const asking = openHttp2(t, port)
  const check = '/envoy.service.auth.v3.Authorization/Check'
  const call = [...POST.slice(0, 3), [':path', check] as const, ['content-type', 'application/grpc'] as const]
  await asking.headers(1, call, 0).settled()

  const { file } = world.config
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('listen: 127.0.0.1:0 }', 'listen: 127.0.0.1:0, clients: [10.0.0.0/8] }'))
  await world.reload()
  for (const each of [idle, sending]) t.match(await each.ended, /^HTTP\/1\.1 200 (?![^]*HTTP\/1\.1)/)
  await idleOfHttp2.next(({ type }) => type === GOAWAY)
  t.equal(await asking.headers(3, call, 0).outcome(3), `RST ${REFUSED_STREAM}`)
  const message = serialized(checkRequest({ path: '/docs/a' }))
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  asking.frame(DATA, END_STREAM, 1, Buffer.concat([prefix, message]))
  t.equal(await asking.outcome(1), 'status 200', 'a question that had arrived is answered')
})

t.test('clients change by a reload; the address needs a restart', async (t) => {
  const { world, port } = await startAsking(t)
  const { file } = world.config
  const text = readFileSync(file, 'utf8')
  const ask = async () => {
    const client = new Client(port)
    const { status } = await client.send('GET', '/auth/nginx', nginxFields('GET', '/docs/a'))
    client.close()
    return status
  }
  t.equal(await ask(), 200)
  writeFileSync(file, text.replace('listen: 127.0.0.1:0 }', 'listen: 127.0.0.1:0, clients: [10.0.0.0/8] }'))
  await world.reload()
  t.equal(await ask(), 403)
  writeFileSync(file, text)
  await world.reload()
  t.equal(await ask(), 200)
  writeFileSync(file, text.replace(/^decision: .*$/m, ''))
  await t.rejects(world.reload(), /a change of decision requires a restart/)
  t.equal(await ask(), 200)
})
