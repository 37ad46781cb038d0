/** Listings by what is granted, against a search of everything. For each driver. */

import type { Test } from 'tap'
import type { Grant, Scope, Store } from '../../../seats-admin/index.ts'
import { isPermission, holds } from '../../../seats-admin/model/permission.ts'
import type { SeatLists, StoredSeat } from '../../../seats-admin/model/seat.ts'
import { ADMIN, done, everything, inSpace, randoms, writer } from './conformance.ts'

const PERMISSIONS = ['a:b', 'a:bc', 'xa:b', 'a:b.c', '*', 'A:b', 'b:a']
const SPACES = ['one', 'one.two', 'on', 'One', 'two']
const UNGRANTABLE = ['', 'a', 'a:b","a:bc', '"a:b"', 'a:*', '","', '%', '_:_', 'a:b\0', '\ud800:x']
const NOW = 1000

export function grantOf(permission: string, space: string | null = null): Grant {
  return { permission, space, now: NOW }
}

export function grantConformance(t: Test, openStore: (t: Test) => Promise<Store>): void {
  t.test('of random Seats and keys, exactly those that grant are listed', async (t) => {
    const store = await openStore(t)
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
          const granting = seats.filter((seat) => grants(seat, seenBy(scope, grant)))
          const listed = await everything((each) => store.listSeats('acme', each), page)
          t.same(
            listed.map(({ id, name, spaces, permissions }) => ({ id, name, spaces, permissions })),
            granting.map((seat) => narrowed(seat, grant)),
            label,
          )
          const names = new Set(granting.map(({ name }) => name))
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
}

interface Key {
  readonly id: string
  readonly seats: readonly StoredSeat[]
  readonly expiresAt: number | null
  readonly revoked: boolean
}

/** 60 Seats and 60 keys. */
async function randomly(store: Store): Promise<{ seats: StoredSeat[]; keys: Key[] }> {
  const { below, some } = randoms(20_260_101)
  const seats: StoredSeat[] = []
  for (let at = 0; at < 60; at++) {
    const seat = { name: `s ${at}`, spaces: some(SPACES, 3), permissions: some(PERMISSIONS, 4) }
    seats.push(done(await store.createSeat(writer(), seat)).value)
    done(await store.createSeat(writer(ADMIN, 1, 'globex'), seat))
  }
  const keys: Key[] = []
  for (let at = 0; at < 60; at++) {
    const held = some(seats, 4)
    const expiresAt = [null, null, NOW - 1, NOW, NOW + 1][below(5)] ?? null
    const made = done(
      await store.createApiKey(writer(), { name: 'k', seats: held.map(({ name }) => name), expiresAt }),
    )
    const revoked = below(5) === 0
    if (revoked) done(await store.revokeApiKey(writer(), made.value.id))
    keys.push({ id: made.value.id, seats: held, expiresAt, revoked })
  }
  return { seats, keys }
}

function grants({ spaces, permissions }: SeatLists, { permission, space }: Grant): boolean {
  const within = space === null ? spaces.length > 0 : spaces.includes(space)
  return isPermission(permission) && within && holds(new Set(permissions), permission)
}

function narrowed({ id, name, spaces, permissions }: StoredSeat, { permission }: Grant) {
  return { id, name, spaces, permissions: [permissions.includes('*') ? '*' : permission] }
}

function valid({ expiresAt, revoked }: Key): boolean {
  return !revoked && (expiresAt === null || expiresAt > NOW)
}

/** Outside the admin space, what is granted there: no space grants what is asked of another one. */
export function seenBy({ admin, space }: Scope, grant: Grant): Grant {
  if (admin || grant.space === space) return grant
  return { ...grant, space: grant.space === null ? space : 'none' }
}
