/** The counters of cache lookups, over HTTP. */

import t, { type Test } from 'tap'
import { changeRead, holdLease } from '../support/held-lease.ts'
import { startWorld, type World } from '../support/world.ts'
import { metricsOf } from '../support/operations.ts'

async function lookups(world: World): Promise<Map<string, number>> {
  const exposition = await metricsOf(world)
  const series = exposition.matchAll(/^seatgate_cache_lookups_total\{cache="(\w+)",result="(\w+)"\} (\d+)$/gm)
  return new Map([...series].map(([, cache, result, value]) => [`${cache} ${result}`, Number(value)]))
}

/** What three requests with the headers add. */
async function added(
  t: Test,
  world: World,
  headers: Record<string, string>,
): Promise<Record<string, number>> {
  const before = await lookups(world)
  for (let i = 0; i < 3; i++) t.equal((await world.client.send('GET', '/v1/trainings', headers)).status, 200)
  const after = await lookups(world)
  const changed = [...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const)
  return Object.fromEntries(changed.filter(([, value]) => value > 0))
}

const world = await startWorld(t)
// A reading of the store between two requests would be counted too.
await holdLease(t, world)

t.test('a token: one verification and one read of its Seat', async (t) => {
  await changeRead(world, () => world.seat('Viewer', ['main'], ['trainings:list']))
  const authorization = `Bearer ${await world.token(['main:Viewer'])}`
  t.same(await added(t, world, { authorization, space: 'main' }), {
    'tokens hit': 2,
    'tokens miss': 1,
    'blocks hit': 2,
    'blocks miss': 1,
    'grants hit': 2,
    'grants miss': 1,
    'seat_names hit': 2,
    'seat_names miss': 1,
  })
})

t.test('a token of twenty Seats: its authorization is cached', async (t) => {
  const names = Array.from({ length: 20 }, (_, i) => `Viewer${i}`)
  for (const name of names) await world.seat(name, ['main'], ['trainings:list'])
  const authorization = `Bearer ${await world.token(names.map((name) => `main:${name}`))}`
  const headers = { authorization, space: 'main' }
  await added(t, world, headers)
  const { 'authorizations hit': hits = 0, 'authorizations miss': misses = 0 } = await added(t, world, headers)
  t.equal(hits + misses, 3)
})
