/** A body held back until after its sender has lost the permission: the change is decided when the body has arrived. */

import t from 'tap'
import { startWorld } from '../support/world.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { metric } from '../support/operations.ts'

const world = await startWorld(t)

/** Sends a POST without the end of its body, and returns a function that sends the end once its sender is known. */
async function begin(path: string, key: string, body: unknown) {
  const text = JSON.stringify(body)
  const inFlight = () => metric(world, 'seatgate_requests_in_flight')
  const before = await inFlight()
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nx-api-key: ${key}\r\nSpace: admin\r\nContent-Type: application/json\r\n`
  const client = new RawClient(world.port).send(
    `${head}Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text.slice(0, 5)}`,
  )
  await until(async () => (await inFlight()) > before, 'the request')
  // The key is looked up for this one after that one.
  await world.client.send('GET', '/v1/seats', { 'x-api-key': key, space: 'admin' })
  return () => client.send(text.slice(5)).ended
}

t.test('a revoked key, and a key whose Seat is deleted', async (t) => {
  const boss = await world.seat('Boss', ['admin'], ['*'])
  const first = await world.admin('POST', '/v1/api-keys', { name: 'first', seats: ['Boss'] })
  const second = await world.admin('POST', '/v1/api-keys', { name: 'second', seats: ['Boss'] })
  const seat = { name: 'Late', spaces: ['admin'], permissions: ['*'] }
  const late = await begin('/v1/api-keys', first.json.key, { name: 'late', seats: ['admin'] })
  const later = await begin('/v1/seats', second.json.key, seat)
  t.equal((await world.admin('DELETE', `/v1/api-keys/${first.json.id}`)).status, 204)
  t.equal((await world.admin('DELETE', `/v1/seats/${boss}`)).status, 204)
  t.match(await late(), /^HTTP\/1\.1 401 [\s\S]*api_key_revoked/)
  t.match(await later(), /^HTTP\/1\.1 403 [\s\S]*no_seat_in_space/)
  const names = (await world.admin('GET', '/v1/seats')).json.data.map((each: { name: string }) => each.name)
  t.notOk(names.includes('Late'))
})

t.test('a caller that has fewer permissions by then can grant fewer', async (t) => {
  const id = await world.seat('Chief', ['admin'], ['*'])
  const key = await world.admin('POST', '/v1/api-keys', { name: 'key', seats: ['Chief'] })
  const seat = { name: 'Late', spaces: ['admin'], permissions: ['*'] }
  const late = await begin('/v1/seats', key.json.key, seat)
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['seats:create'] })
  t.match(await late(), /^HTTP\/1\.1 403 [\s\S]*grant_exceeds_own/)
})

t.test('without 100 Continue, the response is the last of its connection', async (t) => {
  for (const path of ['/docs/a', '/v1/seats', '/nowhere']) {
    const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 36\r\n\r\n`
    const hidden = 'GET /docs/next HTTP/1.1\r\nHost: a\r\n\r\n'
    const wire = new RawClient(world.port).send(head)
    await wire.until('\r\n\r\n')
    if (wire.received.startsWith('HTTP/1.1 100')) {
      t.pass(`${path}: 100 Continue was sent`)
      wire.socket.destroy()
      continue
    }
    wire.send(hidden)
    const text = await wire.ended
    t.equal(text.split('HTTP/1.1 ').length - 1, 1, `${path}: one response`)
    t.match(text, /\r\nConnection: close\r\n/i, path)
  }
})

t.test('an Expect header in HTTP/1.0 closes the connection too', async (t) => {
  const head =
    'POST /nowhere HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n'
  const text = await new RawClient(world.port).send(`${head}abcdGET /docs/a HTTP/1.0\r\n\r\n`).ended
  t.equal(text.split('HTTP/1.1 ').length - 1, 1)
  t.match(text, /^HTTP\/1\.1 404 [\s\S]*\r\nConnection: close\r\n/)
})
