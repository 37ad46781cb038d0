/** Bytes behind a request that closes its connection are not a request, even where they look like one. */

import { connect } from 'node:net'
import t from 'tap'
import { startWorld } from '../support/world.ts'
import { roundTrip } from '../support/raw-client.ts'

const world = await startWorld(t)

const post = (more: string, body = '') => `POST /open HTTP/1.1\r\nHost: a\r\n${more}\r\n${body}`

/** A request that is refused and closes the connection; other parsers may keep reading behind it. */
const closing: Record<string, string> = {
  'HTTP/1.0 with chunks': 'POST /open HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'gzip, chunked': post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
  ',chunked': post('Transfer-Encoding: ,chunked\r\n', '0\r\n\r\n'),
  'two Hosts': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'no Host': 'GET /docs/a HTTP/1.1\r\n\r\n',
  'an odd Expect': post('Expect: tea\r\nContent-Length: 0\r\n'),
  'two Spaces': 'GET /v1/trainings HTTP/1.1\r\nHost: a\r\nSpace: a\r\nSpace: b\r\n\r\n',
  'two Spaces where none is required': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nSpace: a\r\nSpace: b\r\n\r\n',
  'a refused Expect: 100-continue':
    'POST /nowhere HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nabcde',
  'a refused long body': `POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 1100000\r\n\r\n${'a'.repeat(1_100_000)}`,
  'an upgrade': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
}

/** The upstream has idle connections, so that a smuggled request would reach it at once. */
async function warm(): Promise<void> {
  for (let i = 0; i < 3; i++) await world.client.send('POST', '/open', {}, 'warm')
}

t.test('nothing behind it is forwarded', async (t) => {
  const hidden = 'POST /open HTTP/1.1\r\nHost: a\r\nX-Hidden: yes\r\nContent-Length: 2\r\n\r\nhi'
  for (const [name, bytes] of Object.entries(closing)) {
    await warm()
    await roundTrip(world.port, bytes + hidden)
    await warm()
    const slipped = world.upstream.seen.filter((seen) => seen.headers['x-hidden'] !== undefined)
    t.same(slipped, [], name)
  }
})

t.test('nothing behind it changes a Seat', async (t) => {
  for (const [name, bytes] of Object.entries(closing)) {
    const id = await world.seat(`Seat ${name}`, ['s1'], ['a:b'])
    const key = `x-api-key: ${world.keys.acme}\r\nSpace: admin\r\n`
    await roundTrip(world.port, `${bytes}DELETE /v1/seats/${id} HTTP/1.1\r\nHost: a\r\n${key}\r\n`)
    t.equal((await world.admin('GET', `/v1/seats/${id}`)).status, 200, name)
  }
})

t.test('the body of a request behind an upgrade does not become a request', async (t) => {
  await warm()
  const socket = connect(world.port, '127.0.0.1')
  const inner = 'GET /docs/INNER HTTP/1.1\r\nHost: a\r\n\r\n'
  const outer = `POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: ${inner.length}\r\n\r\n`
  socket.write(closing['an upgrade'] + outer)
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('data', resolve))
  socket.write(inner)
  await new Promise((resolve) => socket.once('close', resolve))
  t.notOk(world.upstream.seen.some(({ url }) => url.includes('INNER')))
})
