/** While the store is unavailable, open exchanges stay open: no decision against them is known. */

import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { holdTime } from '../support/held-time.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { openHeld, HELD_ROUTES, reevaluated, reevaluatedAgain, serveEvents } from './held.ts'
import { startWebSocketUpstream } from './support.ts'

t.test('they stay open; afterwards the decision applies', async (t) => {
  const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
  const world = await startWorld(t, { routes: HELD_ROUTES, target: upstream.url })
  const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
  const time = holdTime(t)
  const lines = [`Authorization: Bearer ${await world.token(['s1:Viewer'])}`, 'Space: s1']
  const held = await openHeld(world.port, lines, '', time)
  const database = new DatabaseSync(world.storeFile)
  t.teardown(() => database.close())
  database.exec('ALTER TABLE counter RENAME TO gone')
  const ask = async () =>
    (await world.client.send('GET', '/me', { 'x-api-key': world.keys.acme ?? '' })).status
  await until(async () => {
    time.pass(100)
    return (await ask()) === 503
  }, 'the end of the lease')
  const before = await reevaluated(world)
  await world.reload()
  // Several checks, each of which finds both exchanges affected, and several attempts.
  for (let passed = 0; passed < 10_000; passed += 500) {
    time.pass(500)
    t.equal(await ask(), 503, 'nothing new is allowed')
  }
  await held.staysOpen(t)
  t.equal(await reevaluated(world), before, 'nothing could be decided')
  database.exec('ALTER TABLE gone RENAME TO counter')
  await reevaluatedAgain(world, before, 2, time)
  await held.staysOpen(t)
  const answer = world.admin('PUT', `/v1/seats/${id}`, { permissions: [] })
  await held.cut(t, 'permission_denied')
  t.equal((await answer).status, 200)
})
