/** A caller grants only permissions that it has. */

import fc from 'fast-check'
import t from 'tap'
import { mayManage, mayManageKey, maySee, type Scope } from '../../../seats-admin/model/scope.ts'

const space = fc.constantFrom('admin', 'one', 'two')
const permission = fc.constantFrom('a:b', 'a:c', 'seats:grant', 'seats:create', '*')
const scope = fc
  .record({ space, permissions: fc.uniqueArray(permission) })
  .map((each): Scope => ({ ...each, admin: each.space === 'admin', all: each.permissions.includes('*') }))
const granting = fc.record({ spaces: fc.uniqueArray(space), permissions: fc.uniqueArray(permission) })

t.test('the rule, for random scopes and Seats', async () => {
  fc.assert(
    fc.property(scope, granting, (caller, seat) => {
      const inPlace = caller.admin || (seat.spaces.length === 1 && seat.spaces[0] === caller.space)
      const any = caller.all || caller.permissions.includes('seats:grant')
      const has = seat.permissions.every((each) => caller.permissions.includes(each))
      return mayManage(caller, seat) === (inPlace && (any || has)) && maySee(caller, seat.spaces) === inPlace
    }),
    { numRuns: 2000 },
  )
})

t.test('a key is manageable if all its Seats are', async () => {
  fc.assert(
    fc.property(scope, fc.array(granting, { maxLength: 3 }), (caller, seats) => {
      const some = caller.admin || seats.length > 0
      return mayManageKey(caller, seats) === (some && seats.every((seat) => mayManage(caller, seat)))
    }),
    { numRuns: 2000 },
  )
})

t.test('examples', async (t) => {
  const caller = (permissions: string[], where = 'one'): Scope => ({
    space: where,
    admin: where === 'admin',
    all: permissions.includes('*'),
    permissions,
  })
  const seat = (permissions: string[], ...spaces: string[]) => ({ permissions, spaces })
  t.equal(mayManage(caller(['a:b']), seat(['a:b'], 'one')), true)
  t.equal(mayManage(caller(['a:b']), seat(['a:c'], 'one')), false)
  t.equal(mayManage(caller(['a:b', 'a:c']), seat(['*'], 'one')), false, '* needs *')
  t.equal(mayManage(caller(['*']), seat(['*'], 'one')), true)
  t.equal(mayManage(caller(['*']), seat([], 'two')), false, '* does not reach into other spaces')
  t.equal(mayManage(caller(['*']), seat([], 'one', 'two')), false)
  t.equal(mayManage(caller(['*']), seat([])), false, 'a Seat without spaces belongs to the admin space')
  t.equal(mayManage(caller(['seats:grant']), seat(['*'], 'one')), true, 'seats:grant allows any permission')
  t.equal(mayManage(caller(['seats:grant']), seat([], 'two')), false, 'in its space')
  t.equal(mayManage(caller(['a:b'], 'admin'), seat(['a:b'], 'one', 'two')), true)
  t.equal(
    mayManage(caller(['a:b'], 'admin'), seat(['a:c'], 'one')),
    false,
    'the admin space lifts the limit of spaces only',
  )
  t.equal(mayManageKey(caller(['*']), []), false)
  t.equal(mayManageKey(caller([], 'admin'), []), true)
})
