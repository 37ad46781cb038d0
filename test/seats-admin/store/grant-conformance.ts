/** Listings by what is granted, against a search of everything. For each driver. */

import type { Grant, Scope, Store } from '../../../seats-admin/index.ts'
import { isPermission, holds } from '../../../seats-admin/model/permission.ts'
import type { SeatLists, StoredSeat } from '../../../seats-admin/model/seat.ts'
import { Random } from '../../support/random.ts'
import { ADMIN, column, done, everything, inSpace, key, seat, suite, writer } from './conformance.ts'

const PERMISSIONS = ['a:b', 'a:bc', 'xa:b', 'a:b.c', '*', 'A:b', 'b:a']
const SPACES = ['one', 'one.two', 'on', 'One', 'two']
const UNGRANTABLE = ['', 'a', 'a:b","a:bc', '"a:b"', 'a:*', '","', '%', '_:_', 'a:b\0', '\ud800:x']
const NOW = 1000

export function grantOf(permission: string, space: string | null = null): Grant {
  return { permission, space, now: NOW }
}

export const grantConformance = suite((test) => {
  test('of random Seats and keys, exactly those that grant are listed', async (t, store) => {
    const { seats, keys } = await randomly(store)
    const scopes = [ADMIN, inSpace('one'), inSpace('two', '*')]
    const odd = ['three', 'one"', '']
    for (const permission of [...PERMISSIONS, 'c:d', ...UNGRANTABLE])
      for (const space of UNGRANTABLE.includes(permission) ? [null] : [null, ...SPACES, ...odd])
        for (const [at, scope] of scopes.entries()) {
          if (at > 0 && space !== null && odd.includes(space)) continue
          const grant = grantOf(permission, space)
          const page = { limit: at === 0 ? 7 : 5, scope, grant }
          const label = `${permission} in ${space} for ${scope.space}`
          const granting = seats.filter((each) => grants(each, seenBy(scope, grant)))
          const listed = await everything((each) => store.listSeats('acme', each), page)
          t.same(
            listed.map(plain),
            granting.map((each) => narrowed(each, grant)),
            label,
          )
          const names = new Set(column(granting, 'name'))
          const found = await everything((each) => store.listApiKeys('acme', each), page)
          t.same(
            found.map(({ id, seats: held }) => ({ id, seats: held })),
            keys.filter(valid).flatMap(({ id, seats: all }) => {
              const held = all.filter(({ name }) => names.has(name)).map(({ name }) => name)
              return held.length === 0 ? [] : [{ id, seats: held }]
            }),
            `keys: ${label}`,
          )
        }
  })
})

interface Key {
  readonly id: string
  readonly seats: readonly StoredSeat[]
  readonly expiresAt: number | null
  readonly revoked: boolean
}

/** At most `most` of the list. */
export function some<V>(random: Random, of: readonly V[], most: number): V[] {
  return [...new Set(Array.from({ length: random.below(most + 1) }, () => random.pick(of)))]
}

/** 60 Seats and 60 keys. */
async function randomly(store: Store): Promise<{ seats: StoredSeat[]; keys: Key[] }> {
  const random = new Random(20_260_101)
  const seats: StoredSeat[] = []
  for (let at = 0; at < 60; at++) {
    const lists = [some(random, SPACES, 3), some(random, PERMISSIONS, 4)] as const
    seats.push(await seat(store, `s ${at}`, ...lists))
    await seat(store, `s ${at}`, ...lists, writer(ADMIN, 1, 'globex'))
  }
  const keys: Key[] = []
  for (let at = 0; at < 60; at++) {
    const held = some(random, seats, 4)
    const expiresAt = random.pick([null, null, NOW - 1, NOW, NOW + 1])
    const { id } = await key(store, column(held, 'name'), { expiresAt })
    const revoked = random.once(5)
    if (revoked) done(await store.revokeApiKey(writer(), id))
    keys.push({ id, seats: held, expiresAt, revoked })
  }
  return { seats, keys }
}

function grants({ spaces, permissions }: SeatLists, { permission, space }: Grant): boolean {
  const within = space === null ? spaces.length > 0 : spaces.includes(space)
  return isPermission(permission) && within && holds(new Set(permissions), permission)
}

function plain({ id, name, spaces, permissions }: StoredSeat) {
  return { id, name, spaces, permissions }
}

function narrowed(granting: StoredSeat, { permission }: Grant) {
  return { ...plain(granting), permissions: [granting.permissions.includes('*') ? '*' : permission] }
}

function valid({ expiresAt, revoked }: Key): boolean {
  return !revoked && (expiresAt === null || expiresAt > NOW)
}

/** Outside the admin space, what is granted there: no space grants what is asked of another one. */
export function seenBy({ admin, space }: Scope, grant: Grant): Grant {
  if (admin || grant.space === space) return grant
  return { ...grant, space: grant.space === null ? space : 'none' }
}
