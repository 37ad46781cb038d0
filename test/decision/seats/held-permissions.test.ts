/** The permissions that a caller may pass on: all that its Seats grant in the space at that time. */

import t from 'tap'
import type { ResolvedSeats } from '../../../src/model/decision.ts'
import type { Seat } from '../../../src/model/decision-seat.ts'
import { heldPermissions, MAX_HELD } from '../../../src/decision/seats/held-permissions.ts'
import { traceFrom } from '../trace.ts'

function seat(name: string, spaces: string[], permissions: string[], complete = true): Seat {
  return { id: `id-${name}`, name, complete, spaces: new Set(spaces), permissions: new Set(permissions) }
}

const resolved = (...seats: (Seat | null)[]): ResolvedSeats => ({
  by: 'name',
  entries: seats.map((each) => ({ name: each?.name ?? 'gone', seat: each, nameGivenUp: false })),
})

/** A store of large Seats. */
const stored = (whole: Record<string, { spaces: string[]; permissions: string[] } | null> = {}) => ({
  async wholeSeat(tenant: string, id: string) {
    const found = tenant === 'acme' ? whole[id] : undefined
    if (found === undefined) throw new Error(`${tenant} ${id} was not to be read`)
    return found
  },
})

const viewer = seat('Viewer', ['s1', 's2'], ['trainings:list'])
const editor = seat('Editor', ['s1'], ['trainings:create'])

t.test('permissions of the space alone, from current Seats', async (t) => {
  const held = await heldPermissions(stored(), 'acme', resolved(viewer, editor, null), 's2', traceFrom())
  t.same(held, { all: false, permissions: new Set(['trainings:list']) })
  const givenUp = { by: 'name' as const, entries: [{ name: 'Viewer', seat: viewer, nameGivenUp: true }] }
  t.equal((await heldPermissions(stored(), 'acme', givenUp, 's1', traceFrom())).permissions.size, 0)
})

t.test(
  '* suffices, and so does seats:grant with the rights to change Seats, without further reads',
  async (t) => {
    const large = seat('Large', ['s1'], [], false)
    const admin = seat('Admin', ['s1'], ['*'])
    t.equal((await heldPermissions(stored(), 'acme', resolved(admin, large), 's1', traceFrom())).all, true)
    t.equal(
      (await heldPermissions(stored(), 'acme', resolved(seat('L', ['s1'], ['*'], false)), 's1', traceFrom()))
        .all,
      true,
    )
    const rights = ['seats:grant', 'seats:create', 'seats:update', 'seats:delete']
    const granter = seat('Granter', ['s1'], ['a:b', ...rights])
    const held = await heldPermissions(stored(), 'acme', resolved(granter, large), 's1', traceFrom())
    t.same(held, { all: false, permissions: new Set(rights) })
  },
)

t.test('seats:grant hides no right to change Seats', async (t) => {
  const granter = seat('Granter', ['s1'], ['seats:grant', 'seats:update'])
  const held = (...seats: Seat[]) => heldPermissions(stored(), 'acme', resolved(...seats), 's1', traceFrom())
  t.same([...(await held(granter)).permissions], ['seats:grant', 'seats:update'])
  const maker = seat('Maker', ['s1'], ['seats:create'])
  t.ok((await held(granter, maker)).permissions.has('seats:create'), 'of a later Seat')
})

t.test('a large Seat is read whole, in its current state', async (t) => {
  const large = seat('Large', ['s1'], ['a:b'], false)
  const read = (whole: { spaces: string[]; permissions: string[] } | null) =>
    heldPermissions(stored({ 'id-Large': whole }), 'acme', resolved(viewer, large), 's1', traceFrom())
  const found = await read({ spaces: ['s1'], permissions: ['a:b', 'c:d'] })
  t.same([...found.permissions], ['trainings:list', 'a:b', 'c:d'])
  t.same([...(await read({ spaces: ['s2'], permissions: ['a:b'] })).permissions], ['trainings:list'])
  t.same([...(await read(null)).permissions], ['trainings:list'])
  t.equal((await read({ spaces: ['s1'], permissions: ['x:y', '*'] })).all, true)
})

t.test('permissions count up to a limit, and those beyond cannot be passed on', async (t) => {
  const permissions = Array.from({ length: MAX_HELD + 5 }, (_, at) => `r:p${at}`)
  const whole = { 'id-Large': { spaces: ['s1'], permissions } }
  const held = await heldPermissions(
    stored(whole),
    'acme',
    resolved(seat('Large', ['s1'], [], false)),
    's1',
    traceFrom(),
  )
  t.same([held.permissions.size, held.permissions.has(`r:p${MAX_HELD}`)], [MAX_HELD, false])
  const right = seat('Right', ['s1'], ['seats:delete'])
  const more = await heldPermissions(
    stored(whole),
    'acme',
    resolved(seat('Large', ['s1'], [], false), right),
    's1',
    traceFrom(),
  )
  t.ok(more.permissions.has('seats:delete'), 'a right to change Seats is never beyond it')
})

t.test('a store failure is an error', async (t) => {
  await t.rejects(
    heldPermissions(stored(), 'acme', resolved(seat('L', ['s1'], [], false)), 's1', traceFrom()),
    /not to be read/,
  )
})
