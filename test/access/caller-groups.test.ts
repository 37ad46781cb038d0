/** Whose credentials count when a plan says who gains and who loses, in which spaces, and how many of them are named. */

import { join } from 'node:path'
import t from 'tap'
import {
  CallerComparison,
  callerGroups,
  MOST_NAMES,
  type MovedCallers,
  type PlacedSeat,
} from '../../src/access/moved-callers.ts'
import type { Route } from '../../src/model/route.ts'
import { done, writer } from '../seats-admin/store/conformance.ts'
import { open, temporaryFolder } from '../seats-admin/store/sqlite/support.ts'
import { tablesOf } from './random-tables.ts'

const HOUR = 3_600_000
const now = Date.now()
const SEATS = {
  Reader: { spaces: ['s1'], permissions: ['a:read'] },
  Editor: { spaces: ['s1'], permissions: ['a:edit'] },
  Elsewhere: { spaces: ['s2'], permissions: ['a:edit'] },
  Owner: { spaces: ['s1', 's2'], permissions: ['*'] },
  Nowhere: { spaces: [], permissions: ['a:read', 'a:edit'] },
}
const placed = Object.entries(SEATS).map(([name, { spaces, permissions }]): PlacedSeat => ({
  tenant: 'acme',
  name,
  spaces,
  permissions: new Set(permissions),
}))

function entry(requirement: string, more: Partial<Route> = {}): Route {
  const route = tablesOf({ lines: [`GET /a: ${requirement}`] }).table.routes.find(({ path }) => path === '/a')
  if (route === undefined) throw new Error(requirement)
  return { ...route, ...more }
}

function result(steps: Generator<null, MovedCallers>) {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

const store = await open(t, { path: join(temporaryFolder(t), 'seatgate.db') })
const ids = new Map<string, string>()
for (const [name, seat] of Object.entries(SEATS))
  ids.set(name, done(await store.createSeat(writer(), { name, ...seat })).value.id)
const signIn = (sub: string, ...seats: string[]) =>
  store.recordSignIn(
    'acme',
    { sub, email: sub === 'ann' ? 'ann@example.com' : null, name: null, at: now },
    seats.flatMap((seat) => ids.get(seat) ?? []),
  )
await signIn('ann', 'Reader')
await signIn('bob', 'Reader', 'Editor')
await signIn('carl', 'Reader', 'Elsewhere')
await signIn('dora', 'Owner')
await signIn('eve', 'Reader')
await signIn('fred', 'Nowhere')
await signIn('gina')
done(
  await store.createGrant(writer(), {
    user: 'gina',
    seat: 'Editor',
    from: null,
    until: now + HOUR,
    reason: null,
  }),
)
done(await store.createBlock(writer(), { user: 'eve', until: null, reason: null }))
const keyOf = async (
  name: string,
  seats: readonly string[],
  more: { expiresAt?: number; owner?: string } = {},
) => done(await store.createApiKey(writer(), { name, seats, expiresAt: null, ...more })).value.id
await keyOf('reads', ['Reader'])
await keyOf('expires', ['Reader'], { expiresAt: now + HOUR })
await keyOf('hers', ['Reader'], { owner: 'eve' })
done(await store.revokeApiKey(writer(), await keyOf('revoked', ['Reader'])))

async function moved(before: Route | null, after: Route | null, at = now) {
  const comparison = new CallerComparison('acme', placed, await callerGroups(store, 'acme', at))
  const { users, api_keys: keys } = result(comparison.moved(before, after))
  for (const { gain, lose, gain_count: gains, lose_count: loses } of [users, keys])
    t.same([gain.length, lose.length], [gains, loses])
  return {
    gain: [...users.gain.map(({ sub }) => sub), ...keys.gain.map(({ name }) => name)],
    lose: [...users.lose.map(({ sub }) => sub), ...keys.lose.map(({ name }) => name)],
  }
}

t.test('another permission', async (t) => {
  t.same(await moved(entry('a:read'), entry('a:edit')), {
    // Carl moves from s1 to s2. Bob and Dora keep access by another Seat.
    gain: ['carl', 'gina'],
    lose: ['ann', 'carl', 'expires', 'reads'],
  })
  t.same((await moved(entry('a:read'), entry('a:edit'), now + 2 * HOUR)).lose, ['ann', 'carl', 'reads'])
  t.same(await moved(entry('a:read'), entry('a:read')), { gain: [], lose: [] })
})

t.test('an entry that is new, gone, or needs no Seat', async (t) => {
  const readers = ['ann', 'bob', 'carl', 'dora', 'expires', 'reads']
  const others = ['fred', 'gina']
  t.same(await moved(null, entry('a:read')), { gain: readers, lose: [] })
  t.same(await moved(entry('a:read'), null), { gain: [], lose: readers })
  t.same(await moved(entry('authenticated'), entry('a:read')), { gain: [], lose: others })
  t.same(await moved(entry('a:read'), entry('public')), { gain: others, lose: [] })
  t.same(await moved(entry('public'), entry('authenticated')), { gain: [], lose: [] })
})

t.test('the tenant and the space of an entry', async (t) => {
  const readers = ['ann', 'bob', 'carl', 'dora', 'expires', 'reads']
  t.same(await moved(entry('a:read'), entry('a:read', { tenant: 'acme' })), { gain: [], lose: [] })
  t.same(await moved(entry('a:read'), entry('a:read', { tenant: 'globex' })), { gain: [], lose: readers })
  const fixed = { space: { kind: 'fixed', space: 's2' } } as const
  t.same(await moved(null, entry('a:edit', fixed)), { gain: ['carl', 'dora'], lose: [] })
})

t.test('names', async (t) => {
  const groups = await callerGroups(store, 'acme', now)
  const [user] = new CallerComparison('acme', placed, groups).moved(null, entry('a:edit'))
  t.equal(user, null, 'it goes in steps')
  const { users } = result(new CallerComparison('acme', placed, groups).moved(null, entry('a:read')))
  t.match(users.gain, [
    { sub: 'ann', email: 'ann@example.com' },
    { sub: 'bob', email: null },
  ])
  for (let at = 0; at < 2 * MOST_NAMES; at++) await signIn(`user-${at}`, at % 2 === 0 ? 'Reader' : 'Owner')
  const more = await callerGroups(store, 'acme', now)
  const { users: many } = result(new CallerComparison('acme', placed, more).moved(null, entry('a:read')))
  t.same([many.gain.length, many.gain_count, many.lose_count], [MOST_NAMES, 4 + 2 * MOST_NAMES, 0])
  t.same(
    many.gain.map(({ email, sub }) => email ?? sub),
    many.gain.map(({ email, sub }) => email ?? sub).toSorted(),
  )
})
