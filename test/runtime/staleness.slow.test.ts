/** Once a change has been acknowledged, the next request is decided on it. */

import t from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { writer } from '../seats-admin/store/conformance.ts'
import { Client } from '../support/client.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'

t.test('300 rounds of update and request on one connection, without a stale decision', async (t) => {
  const world = await startWorld(t)
  const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  let stale = 0
  for (let round = 0; round < 300; round++) {
    const grant = round % 2 === 1
    const permissions = grant ? ['trainings:list'] : ['trainings:read']
    const written = await world.admin('PUT', `/v1/seats/${id}`, { permissions })
    if (written.status !== 200) throw new Error(`${written.status} ${written.body}`)
    const { status } = await world.client.send('GET', '/v1/trainings', headers)
    if (status !== (grant ? 200 : 403)) stale++
  }
  t.equal(stale, 0)
})

t.test('the same under load from clients that keep the Seat in memory', async (t) => {
  const world = await startWorld(t)
  const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  let on = true
  t.teardown(() => (on = false))
  const load = Array.from({ length: 8 }, async () => {
    const client = new Client(world.port)
    while (on) await client.send('GET', '/v1/trainings', headers)
    client.close()
  })
  let stale = 0
  for (let round = 0; round < 100; round++) {
    const spaces = round % 2 === 1 ? ['s1'] : ['s2']
    await world.admin('PUT', `/v1/seats/${id}`, { spaces })
    const { status } = await world.client.send('GET', '/v1/trainings', headers)
    if (status !== (round % 2 === 1 ? 200 : 403)) stale++
  }
  on = false
  await Promise.all(load)
  t.equal(stale, 0)
})

t.test(
  'a revoked key, a deleted Seat and a new Seat with its name grant nothing to older credentials',
  async (t) => {
    const world = await startWorld(t)
    const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
    const token = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
    const made = await world.admin('POST', '/v1/api-keys', { name: 'ci', seats: ['Viewer'] })
    const key = { 'x-api-key': made.json.key, space: 's1' }
    const ask = async (headers: Record<string, string>) => {
      const answer = await world.client.send('GET', '/v1/trainings', headers)
      return answer.status === 200 ? 'allow' : answer.json.code
    }
    t.same([await ask(token), await ask(key)], ['allow', 'allow'])

    await world.admin('PUT', `/v1/seats/${id}`, { name: 'Watcher' })
    t.same(
      [await ask(token), await ask(key)],
      ['permission_denied', 'allow'],
      'a key follows a rename, a token does not',
    )
    await world.admin('PUT', `/v1/seats/${id}`, { name: 'Viewer' })
    t.same([await ask(token), await ask(key)], ['permission_denied', 'allow'], 'a name given up stays marked')

    t.equal((await world.admin('DELETE', `/v1/seats/${id}`)).status, 204)
    t.same([await ask(token), await ask(key)], ['permission_denied', 'no_seat_in_space'])
    await world.seat('Viewer', ['s1'], ['trainings:list'])
    t.same([await ask(token), await ask(key)], ['permission_denied', 'no_seat_in_space'])
    const later = await world.token(['s1:Viewer'], { now: Date.now() + 1000 })
    const laterToken = { authorization: `Bearer ${later}`, space: 's1' }
    await until(async () => (await ask(laterToken)) === 'allow', 'a later token names the new Seat')

    t.equal((await world.admin('DELETE', `/v1/api-keys/${made.json.id}`)).status, 204)
    t.equal(await ask(key), 'api_key_revoked')
  },
)

t.test('a repeated apply, which finds nothing to do, shows a change that was never announced', async (t) => {
  const world = await startWorld(t)
  const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  // As a gateway that ends between commit and announcement.
  const store = await openStore(world.config.store)
  t.teardown(() => store.close())
  let stale = 0
  for (let round = 0; round < 30; round++) {
    const permissions = round % 2 === 1 ? ['trainings:list'] : ['trainings:read']
    await world.client.send('GET', '/v1/trainings', headers)
    await store.updateSeat(writer(), id, { permissions })
    const file = { seats: { Viewer: { spaces: ['s1'], permissions } } }
    const applied = await world.admin('POST', '/v1/seats/apply', file)
    t.match([applied.status, applied.json], [200, { changes: [], unchanged: 1 }])
    const { status } = await world.client.send('GET', '/v1/trainings', headers)
    if (status !== (round % 2 === 1 ? 200 : 403)) stale++
  }
  t.equal(stale, 0)
})
