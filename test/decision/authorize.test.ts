import fc from 'fast-check'
import t from 'tap'
import { authorize } from '../../src/decision/authorize.ts'
import type { ResolvedSeats, ResolvedSeat } from '../../src/model/decision.ts'
import type { Seat } from '../../src/model/decision-seat.ts'

function seat(name: string, spaces: string[], permissions: string[]): Seat {
  return {
    id: `id-${name}`,
    name,
    complete: true,
    spaces: new Set(spaces),
    permissions: new Set(permissions),
  }
}

function entry(it: Seat | null, more: Partial<ResolvedSeat> = {}): ResolvedSeat {
  return { name: it?.name ?? 'gone', seat: it, nameGivenUp: false, ...more }
}

function byName(...entries: ResolvedSeat[]): ResolvedSeats {
  return { by: 'name', entries }
}

const viewer = seat('Viewer', ['s1', 's2'], ['trainings:list'])
const editor = seat('Editor', ['s1'], ['trainings:create'])
const admin = seat('Admin', ['s1'], ['*'])

t.test('the specified table of checks', async (t) => {
  t.match(authorize(byName(), 's1', 'trainings:list'), { code: 'no_seat_in_space', seats: [] })
  t.equal(authorize(byName(entry(viewer)), 's1', 'trainings:create').code, 'permission_denied')
  t.equal(authorize(byName(entry(viewer)), 's1', 'trainings:list').code, 'allow')
  t.equal(authorize(byName(entry(admin)), 's1', 'anything:at-all').code, 'allow')
  t.equal(authorize(byName(entry(viewer), entry(editor)), 's1', 'trainings:create').code, 'allow')
})

t.test('each Seat has its verdict, also after one that grants', async (t) => {
  const resolved = byName(
    entry(viewer),
    entry(admin),
    entry(null),
    entry(seat('Away', ['s9'], ['*'])),
    entry(admin, { nameGivenUp: true }),
  )
  t.same(
    authorize(resolved, 's1', 'trainings:create').seats.map((each) => each.verdict),
    ['lacks_permission', 'grants', 'unknown', 'not_in_space', 'name_given_up'],
  )
})

t.test('a Seat that no longer lists the space grants nothing there', async (t) => {
  t.equal(authorize(byName(entry(admin)), 's2', 'a:b').code, 'permission_denied')
})

t.test('a name that was given up grants nothing, whatever the new Seat of that name holds', async (t) => {
  t.equal(authorize(byName(entry(admin, { nameGivenUp: true })), 's1', 'a:b').code, 'permission_denied')
})

t.test('an API key has an entry for each of its Seats that lists the space', async (t) => {
  const key = (...entries: ResolvedSeat[]): ResolvedSeats => ({ by: 'id', entries })
  t.equal(authorize(key(), 's1', 'a:b').code, 'no_seat_in_space')
  t.equal(authorize(key(entry(null)), 's1', 'a:b').code, 'no_seat_in_space')
  t.equal(authorize(key(entry(editor)), 's2', 'a:b').code, 'no_seat_in_space')
  t.equal(authorize(key(entry(viewer)), 's2', 'a:b').code, 'permission_denied')
  t.equal(authorize(key(entry(editor), entry(viewer)), 's2', 'trainings:list').code, 'allow')
})

t.test(
  'permissions are compared exactly: case-sensitive, no prefixes, no wildcard except * alone',
  async (t) => {
    for (const held of [
      'trainings',
      'trainings:',
      'trainings:lis',
      'TRAININGS:LIST',
      'trainings:*',
      '*:list',
      '**',
    ]) {
      t.equal(
        authorize(byName(entry(seat('S', ['s1'], [held]))), 's1', 'trainings:list').code,
        'permission_denied',
        held,
      )
    }
  },
)

t.test('allowed if and only if a current Seat lists the space and holds the permission or *', async () => {
  const word = fc.constantFrom('a:a', 'a:b', '*', 'b:a')
  const space = fc.constantFrom('s1', 's10', 's')
  const anySeat = fc.record({
    spaces: fc.array(space),
    permissions: fc.array(word),
    givenUp: fc.boolean(),
    gone: fc.boolean(),
  })
  fc.assert(
    fc.property(
      fc.array(anySeat),
      space,
      word,
      fc.constantFrom<'id' | 'name'>('id', 'name'),
      (all, where, what, by) => {
        const entries = all.map((each, index) =>
          entry(each.gone ? null : seat(`S${index}`, each.spaces, each.permissions), {
            nameGivenUp: each.givenUp,
          }),
        )
        const expected = all.some(
          (each) =>
            !each.gone &&
            !each.givenUp &&
            each.spaces.includes(where) &&
            each.permissions.some((p) => p === what || p === '*'),
        )
        return (authorize({ by, entries }, where, what).code === 'allow') === expected
      },
    ),
    { numRuns: 5000 },
  )
})
