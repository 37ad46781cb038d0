/** Who gains and who loses by a change of tables is exactly what the decision engine says before and after it. */

import fc from 'fast-check'
import t from 'tap'
import { changeSteps } from '../../src/access/access-change.ts'
import { differences } from '../../src/access/difference.ts'
import {
  CallerComparison,
  callerGroups,
  type MovedCallers,
  type PlacedSeat,
} from '../../src/access/moved-callers.ts'
import { needsPermission, type Route } from '../../src/model/route.ts'
import { pairs } from './random-tables.ts'
import { build, type Built, type Caller, SPACES, TENANT, type World, worlds } from './worlds.ts'

const RUNS = 20
const DEPTH = 2

/** The spaces in which the engine allows the request; null where an entry needs no Seat. */
async function allowed(
  built: Built,
  caller: Caller,
  route: Route | null,
  request: { method: string; path: string },
) {
  const spaces = new Set<string>()
  for (const space of SPACES)
    if ((await built.answer(caller, { ...request, space })).allowed) spaces.add(space)
  return route !== null && !needsPermission(route.requirement) && spaces.size > 0 ? null : spaces
}

type Spaces = Awaited<ReturnType<typeof allowed>>

function gains(old: Spaces, now: Spaces): boolean {
  if (old === null) return false
  return now === null ? old.size === 0 : now.difference(old).size > 0
}

function result(steps: Generator<null, MovedCallers>): MovedCallers {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

async function check(world: World, before: Built, after: Built): Promise<number> {
  const placed = world.seats.map((seat): PlacedSeat => ({
    ...seat,
    tenant: TENANT,
    permissions: new Set(seat.permissions),
  }))
  const comparison = new CallerComparison(
    TENANT,
    placed,
    await callerGroups(before.store, TENANT, Date.now()),
  )
  // Public entries take requests with keys that are not accepted, too: such keys do not count.
  const accepted = ({ keys, holders }: Built) => [
    ...keys.filter((_, at) => world.keys[at]?.state === 'valid'),
    ...holders,
  ]
  const [olds, nows] = [before, after].map(accepted)
  const steps = changeSteps(differences(before.tables, after.tables), placed)
  let changes = 0
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done !== true) continue
    for (const { change, difference } of step.value) {
      changes++
      const { api_keys: moved } = result(comparison.moved(difference.before, difference.after))
      const [gain, lose] = [moved.gain, moved.lose].map((keys) => keys.map(({ id }) => id).toSorted())
      const expected: { gain: string[]; lose: string[] } = { gain: [], lose: [] }
      for (const [at, caller] of (olds ?? []).entries()) {
        const other = nows?.[at]
        if (other === undefined) throw new Error('the worlds differ')
        const old = await allowed(before, caller, difference.before, change.witness)
        const now = await allowed(after, other, difference.after, change.witness)
        if (gains(old, now)) expected.gain.push(caller.id)
        if (gains(now, old)) expected.lose.push(caller.id)
      }
      const [shown, wanted] = [
        { gain, lose },
        { gain: expected.gain.toSorted(), lose: expected.lose.toSorted() },
      ].map((each) => JSON.stringify(each))
      if (shown !== wanted)
        throw new Error(`${change.kind} ${change.method} ${change.pattern}: ${shown}, not ${wanted}`)
      if (moved.gain_count !== gain?.length || moved.lose_count !== lose?.length) throw new Error('counts')
    }
    return changes
  }
}

t.test('API keys of random worlds', async (t) => {
  let changes = 0
  await fc.assert(
    fc.asyncProperty(worlds(DEPTH), pairs(DEPTH), async (world, [one, other]) => {
      const [before, after] = [
        await build(t, { ...world, tables: one }),
        await build(t, { ...world, tables: other }),
      ]
      try {
        changes += await check(world, before, after)
      } finally {
        await before.close()
        await after.close()
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  t.ok(changes > RUNS, `${changes} changes`)
})
