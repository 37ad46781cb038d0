/** Nobody grants what they don't have. */

import fc from 'fast-check'
import t from 'tap'
import { mayManage, mayManageKey, maySee, type Scope } from '../../../seats-admin/model/scope.ts'

const space = fc.constantFrom('admin', 'one', 'two')
const permission = fc.constantFrom('a:b', 'a:c', 'seats:grant', 'seats:create', '*')
const scope = fc
  .record({ space, permissions: fc.uniqueArray(permission) })
  .map((each): Scope => ({ ...each, admin: each.space === 'admin', all: each.permissions.includes('*') }))
const granting = fc.record({ spaces: fc.uniqueArray(space), permissions: fc.uniqueArray(permission) })

t.test('the rule, for everybody and every Seat', async () => {
  fc.assert(
    fc.property(scope, granting, (who, seat) => {
      const inPlace = who.admin || (seat.spaces.length === 1 && seat.spaces[0] === who.space)
      const any = who.all || who.permissions.includes('seats:grant')
      const has = seat.permissions.every((each) => who.permissions.includes(each))
      return mayManage(who, seat) === (inPlace && (any || has)) && maySee(who, seat.spaces) === inPlace
    }),
    { numRuns: 2000 },
  )
})

t.test('a key is as manageable as all its Seats', async () => {
  fc.assert(
    fc.property(scope, fc.array(granting, { maxLength: 3 }), (who, seats) => {
      const some = who.admin || seats.length > 0
      return mayManageKey(who, seats) === (some && seats.every((seat) => mayManage(who, seat)))
    }),
    { numRuns: 2000 },
  )
})

t.test('by example', async (t) => {
  const who = (permissions: string[], where = 'one'): Scope => ({
    space: where,
    admin: where === 'admin',
    all: permissions.includes('*'),
    permissions,
  })
  const seat = (permissions: string[], ...spaces: string[]) => ({ permissions, spaces })
  t.equal(mayManage(who(['a:b']), seat(['a:b'], 'one')), true)
  t.equal(mayManage(who(['a:b']), seat(['a:c'], 'one')), false)
  t.equal(mayManage(who(['a:b', 'a:c']), seat(['*'], 'one')), false, '* needs *')
  t.equal(mayManage(who(['*']), seat(['*'], 'one')), true)
  t.equal(mayManage(who(['*']), seat([], 'two')), false, '* does not reach into other spaces')
  t.equal(mayManage(who(['*']), seat([], 'one', 'two')), false)
  t.equal(mayManage(who(['*']), seat([])), false, 'a Seat without spaces is of the admin space')
  t.equal(mayManage(who(['seats:grant']), seat(['*'], 'one')), true, 'seats:grant allows any')
  t.equal(mayManage(who(['seats:grant']), seat([], 'two')), false, 'in its space')
  t.equal(mayManage(who(['a:b'], 'admin'), seat(['a:b'], 'one', 'two')), true)
  t.equal(
    mayManage(who(['a:b'], 'admin'), seat(['a:c'], 'one')),
    false,
    'the admin space frees from spaces only',
  )
  t.equal(mayManageKey(who(['*']), []), false)
  t.equal(mayManageKey(who([], 'admin'), []), true)
})
