/** The bounds of `GET /v1/decisions`: the ring of a tenant, a reader that is slow, and streams. */

import { connect } from 'node:net'
import t from 'tap'
import { Client } from '../support/client.ts'
import { type EventStream, openEventStream } from '../support/event-stream.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t)
await world.seat('Viewer', ['s1'], ['trainings:list'])
const viewer = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
const admin = { 'x-api-key': world.keys['acme'] ?? '', space: 'admin' }
const clients = new Client(world.port, 20)
t.teardown(() => clients.close())

const get = (path: string, headers: Record<string, string> = viewer) => clients.send('GET', path, headers)
const decisions = async (query: string) => (await get(`/v1/decisions${query}`, admin)).json

t.test('streams are bounded for each tenant', async (t) => {
  const open: EventStream[] = []
  for (let i = 0; i < 20; i++) open.push(await openEventStream(t, world.port, '/v1/decisions', admin))
  const further = await openEventStream(t, world.port, '/v1/decisions', admin)
  t.equal(further.response.statusCode, 503)
  const globex = { 'x-api-key': world.keys['globex'] ?? '', space: 'admin' }
  const other = await openEventStream(t, world.port, '/v1/decisions', globex)
  t.equal(other.response.statusCode, 200, 'another tenant has room')
  for (const { response } of open) response.destroy()
  await until(async () => {
    const again = await openEventStream(t, world.port, '/v1/decisions', admin)
    return again.response.statusCode === 200
  }, 'room again')
})

t.test('a ring keeps the newest thousand', async (t) => {
  for (let i = 0; i < 1010; i += 10) await Promise.all(Array.from({ length: 10 }, () => get('/v1/trainings')))
  let count = 0
  for (let after = ''; ;) {
    const { data, has_more } = await decisions(`?limit=100${after}`)
    count += data.length
    if (!has_more) break
    after = `&after=${data.at(-1).id}`
  }
  t.ok(count > 900 && count <= 1000, `${count}`)
})

t.test('a reader that does not read loses events, and is told how many', async (t) => {
  const socket = connect(world.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const lines = Object.entries({ ...admin, accept: 'text/event-stream', host: 'x' })
  socket.write(
    `GET /v1/decisions?code=no_seat_in_space HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  )
  let text = ''
  await new Promise<void>((resolve) => socket.once('data', (chunk) => resolve(void (text += chunk))))
  socket.pause()
  const other = { ...viewer, space: 's2' }
  let sent = 0
  const flood = async (count: number) => {
    for (let i = 0; i < count; i += 20, sent += 20)
      await Promise.all(
        Array.from({ length: 20 }, () => clients.send('GET', `/v1/trainings/${'x'.repeat(1000)}`, other)),
      )
  }
  await flood(6000)
  socket.on('data', (chunk) => void (text += chunk))
  socket.resume()
  const count = () => (text.match(/^event: decision$/gm) ?? []).length
  const lost = () => [...text.matchAll(/\{"lost":(\d+)\}/g)].reduce((sum, [, n]) => sum + Number(n), 0)
  await until(
    () => lost() > 0 && count() + lost() === sent,
    () => `${count()} and ${lost()} of ${sent}`,
  )
  t.ok(count() > 100)
})
