/** Users as sign-ins leave them. For each driver. */

import type { Test } from 'tap'
import type { Scope, Store, UserPage } from '../../../seats-admin/index.ts'
import { holds, isPermission } from '../../../seats-admin/model/permission.ts'
import { maySee } from '../../../seats-admin/model/scope.ts'
import type { StoredSeat } from '../../../seats-admin/model/seat.ts'
import type { User } from '../../../seats-admin/model/user.ts'
import { Random } from '../../support/random.ts'
import {
  ADMIN,
  bytewise,
  column,
  done,
  everything,
  inSpace,
  seat,
  signedIn,
  suite,
  writer,
} from './conformance.ts'
import { grantOf, seenBy, some } from './grant-conformance.ts'

/** All users, read by page. */
export function allUsers(store: Store, page: Partial<UserPage> = {}): Promise<User[]> {
  return everything((each) => store.listUsers('acme', each), { limit: 100, scope: ADMIN, ...page })
}

/** As long as a sub may be. */
const LONGEST = [...'x€"\\']
  .map((each) => each.repeat(255))
  .concat(`${'€'.repeat(254)}!`, '\u{10ffff}'.repeat(127))

export const userConformance = suite((test) => {
  test('groups that the provider left out are remembered until the next sign-in', async (t, store) => {
    const { id } = await seat(store, 'Viewer')
    const marks: unknown[] = []
    for (const [at, more, seats] of [
      [1000, {}, [id]],
      [2000, { areGroupsLeftOut: true }, []],
      [3000, { areGroupsLeftOut: true }, []],
      [2500, {}, []],
      [4000, { areGroupsLeftOut: false }, []],
    ] as const) {
      await store.recordSignIn('acme', { sub: 'gus', email: null, name: null, at, ...more }, seats)
      marks.push((await store.readUser('acme', 'gus', ADMIN))?.areGroupsLeftOut)
      t.same(await allUsers(store), [await store.readUser('acme', 'gus', ADMIN)])
    }
    t.same(marks, [undefined, true, true, true, undefined], 'a late sign-in changes nothing')
  })

  test('a user is read as the latest sign-in left it', async (t, store) => {
    t.equal(await store.readUser('acme', 'ann', ADMIN), null)
    const [b, a] = [await seat(store, 'B'), await seat(store, 'A')]
    const ann = { sub: 'ann', email: 'Ann@Example.org', name: 'Ann', at: 5000 }
    const read = () => store.readUser('acme', 'ann', ADMIN)
    await store.recordSignIn('acme', ann, [b.id, a.id])
    const expected = { sub: 'ann', email: ann.email, name: 'Ann', lastSignIn: 5000, seats: ['A', 'B'] }
    t.same(await read(), expected)
    t.same(await allUsers(store), [expected])
    await store.recordSignIn('acme', { ...ann, email: null, name: null, at: 6000 }, [b.id, a.id])
    t.same(await read(), { ...expected, email: null, name: null, lastSignIn: 6000 }, 'with the same Seats')
    await store.recordSignIn('acme', { ...ann, at: 7000 }, [a.id])
    t.same(await read(), { ...expected, lastSignIn: 7000, seats: ['A'] }, 'with other Seats')
    await store.recordSignIn('acme', { ...ann, email: 'old@example.org', at: 6999 }, [a.id])
    t.same(await read(), { ...expected, lastSignIn: 7000, seats: ['A'] }, 'a late call moves no time back')
    done(await store.updateSeat(writer(), a.id, { name: 'C' }))
    t.same((await read())?.seats, ['C'])
    done(await store.deleteSeat(writer(), a.id))
    t.same((await read())?.seats, [])
    t.equal(await store.readUser('globex', 'ann', ADMIN), null, 'tenants are separate')
    t.equal(await store.readUser('acme', 'Ann', ADMIN), null, 'sub is compared exactly')
    t.equal((await allUsers(store)).length, 1, 'a user without Seats stays')
  })

  test('users are in byte order of sub, in pages, whatever its characters and length', async (t, store) => {
    const all = [...['a', 'B', 'a b', "'; --", '%', '_', 'é', 'ß', 'ａ', '💺', 'ab', 'aB'], ...LONGEST]
    const { id } = await seat(store, 'A')
    for (const sub of all) await store.recordSignIn('acme', signedIn(sub), [id])
    const expected = all.toSorted(bytewise)
    for (const limit of [1, 4, 100])
      t.same(column(await allUsers(store, { limit }), 'sub'), expected, `pages of ${limit}`)
    for (const sub of all) t.same((await store.readUser('acme', sub, ADMIN))?.seats, ['A'])
    const granting = await allUsers(store, { limit: 3, grant: grantOf('a:b') })
    t.same(column(granting, 'sub'), expected, 'each is found by its Seats')
    for (const odd of ['', '\0', '\ud800', 'x'.repeat(100_000)]) {
      t.equal(await store.readUser('acme', odd, ADMIN), null)
      t.same(await allUsers(store, { q: `${odd}~~~` }), [])
    }
  })

  test('a sub that no sign-in has counts as a member, and is not listed', async (t, store) => {
    const { id } = await seat(store, 'A')
    for (const sub of ['', '\0', '\ud800', 'x'.repeat(256)])
      await store.recordSignIn('acme', signedIn(sub), [id])
    t.same(await allUsers(store), [])
    const [listed] = (await store.listSeats('acme', { limit: 1, after: null, scope: ADMIN })).data
    t.equal(listed?.memberCount, 4)
  })

  test('email addresses of unusual characters', async (t, store) => {
    for (const email of ['\0', 'a\ud800', "'; --", 'x'.repeat(320)]) {
      await store.recordSignIn('acme', { sub: 'ann', email, name: email, at: email.length }, [])
      const { email: kept, name } = (await store.readUser('acme', 'ann', ADMIN)) ?? {}
      t.equal(kept, email.toWellFormed().replaceAll('\0', '\ufffd'))
      t.equal(name, kept)
    }
  })

  test('a part of the sub or of the address finds users', async (t, store) => {
    for (const [sub, email] of [
      ['ann', 'Ann@Example.ORG'],
      ['ben', 'ben@example.org'],
      ['Anna', null],
      ['100%_sure', 'ÄRGER@example.com'],
    ] as const)
      await store.recordSignIn('acme', { sub, email, name: 'Ann', at: 1 }, [])
    const found = async (q: string) => column(await allUsers(store, { q, limit: 1 }), 'sub')
    t.same(await found(''), ['100%_sure', 'Anna', 'ann', 'ben'])
    t.same(await found('ann'), ['ann'], 'sub with its case')
    t.same(await found('ANN@example'), ['ann'], 'addresses without')
    t.same(await found('example.org'), ['ann', 'ben'])
    t.same(await found('Ann'), ['Anna', 'ann'])
    t.same(await found('%'), ['100%_sure'], 'no wildcard')
    t.same(await found('_'), ['100%_sure'])
    t.same(await found('ärger'), [], 'ASCII letters only, on every store alike')
    t.same(await found('ÄRGER'), ['100%_sure'])
    t.same(await found('\0'), [])
  })

  test('of random users, exactly the visible ones that hold what is asked are listed', async (t, store) => {
    const { seats, users } = await randomly(store)
    for (const scope of [ADMIN, inSpace('one'), inSpace('two', '*')])
      for (const permission of [null, 'a:b', 'a:c', '*', 'x', 'd:e'])
        for (const space of permission === null ? [null] : [null, 'one', 'two', 'three', '"'])
          for (const q of space === null ? [null, '1'] : [null]) {
            const grant = permission === null ? null : grantOf(permission, space)
            const where = grant === null ? null : seenBy(scope, grant).space
            const counts = (each: StoredSeat) =>
              permission === null
                ? maySee(scope, each.spaces)
                : isPermission(permission) &&
                  holds(new Set(each.permissions), permission) &&
                  (where === null ? each.spaces.length > 0 : each.spaces.includes(where))
            const names = new Map(seats.filter(counts).map(({ id, name }) => [id, name]))
            const expected = users
              .filter(({ sub }) => sub.includes(q ?? ''))
              .map(({ sub, ids }) => ({
                sub,
                seats: ids.flatMap((id) => names.get(id) ?? []).toSorted(bytewise),
              }))
              .filter((each) => each.seats.length > 0 || (grant === null && scope.admin))
              .toSorted((one, other) => bytewise(one.sub, other.sub))
            const found = await allUsers(store, { scope, grant, q, limit: 11 })
            t.same(
              found.map(({ sub, seats: held }) => ({ sub, seats: held })),
              expected,
              `${permission} in ${space} for ${scope.space}, ${q}`,
            )
            if (grant === null) await readAlike(t, store, scope, expected, users)
          }
  })
})

/** `readUser` gives what the listing does, and null to those who may not see the user. */
async function readAlike(
  t: Test,
  store: Store,
  scope: Scope,
  expected: readonly { sub: string; seats: readonly string[] }[],
  users: readonly { sub: string }[],
): Promise<void> {
  for (const { sub } of users.slice(0, 8)) {
    const found = await store.readUser('acme', sub, scope)
    if (!sub.includes('1')) continue
    t.same(found?.seats, expected.find((each) => each.sub === sub)?.seats, `${sub} for ${scope.space}`)
  }
}

async function randomly(store: Store) {
  const random = new Random(20_260_102)
  const seats: StoredSeat[] = []
  for (let at = 0; at < 30; at++) {
    const permissions = some(random, ['a:b', 'a:c', '*', 'a:bc'], 3)
    seats.push(await seat(store, `s ${at}`, some(random, ['one', 'two', 'three'], 2), permissions))
  }
  const users: { sub: string; ids: readonly string[] }[] = []
  for (let at = 0; at < 40; at++) {
    const [sub, ids] = [`u${at}`, column(some(random, seats, 4), 'id')]
    users.push({ sub, ids })
    await store.recordSignIn('acme', signedIn(sub), column(some(random, seats, 2), 'id'))
    await store.recordSignIn('acme', signedIn(sub, 2), ids)
    await store.recordSignIn('globex', signedIn(sub), [])
  }
  return { seats, users }
}
