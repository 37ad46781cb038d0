/**
 * The users and API keys of a tenant who gain or lose access by a change of route tables. Access counts in each
 * space: a caller who keeps it by another Seat neither gains nor loses.
 */

import {
  type AdminStore,
  areBlocked,
  type Listing,
  type Page,
  type RestrictionReader,
  seatsHeld,
} from '../../seats-admin/index.ts'
import { isAccepted } from '../../seats-admin/model/api-key.ts'
import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import { needsPermission, type Route, takesTenant } from '../model/route.ts'
import type { GrantingSeat } from './access-change.ts'
import { ofBlockedOwners } from './permission-holders.ts'

export type CallerLists = Pick<AdminStore, 'listApiKeys' | 'listUsers'> & RestrictionReader

/** A Seat with the spaces in which it grants. */
export interface PlacedSeat extends GrantingSeat {
  readonly spaces: readonly string[]
}

export interface NamedUser {
  readonly sub: string
  readonly email: string | null
}

export interface NamedKey {
  readonly id: string
  readonly name: string
}

/** Who gains and who loses: the first ones by name, and how many there are. */
export interface Moved<V> {
  readonly gain: readonly V[]
  readonly lose: readonly V[]
  readonly gain_count: number
  readonly lose_count: number
}

export interface MovedCallers {
  readonly users: Moved<NamedUser>
  readonly api_keys: Moved<NamedKey>
}

/** The most names of one kind of callers who gain, or who lose, by one change. */
export const MOST_NAMES = 100

interface Named<V> {
  count: number
  /** At most {@link MOST_NAMES}. */
  readonly first: V[]
}

/** The callers who hold the same Seats. */
export interface CallerGroup {
  readonly seats: readonly string[]
  readonly users: Named<NamedUser>
  readonly keys: Named<NamedKey>
}

/** The first names, and how many there are. */
export function firstMoved<V>(gain: readonly V[], lose: readonly V[]): Moved<V> {
  return {
    gain: gain.slice(0, MOST_NAMES),
    lose: lose.slice(0, MOST_NAMES),
    gain_count: gain.length,
    lose_count: lose.length,
  }
}

const PAGE = 1000
const EVERYTHING = { space: '', admin: true, all: true, permissions: [] }

/**
 * The callers whose credentials are accepted: blocked users and their API keys, and keys that have expired or
 * were revoked, do not count. Users have the Seats of their latest sign-in, and those of grants in force.
 */
export async function callerGroups(lists: CallerLists, tenant: string, now: number): Promise<CallerGroup[]> {
  const groups = new Map<string, CallerGroup>()
  const groupOf = (names: readonly string[]): CallerGroup => {
    const seats = [...new Set(names)].toSorted()
    const key = JSON.stringify(seats)
    const group = groups.get(key) ?? { seats, users: none(), keys: none() }
    groups.set(key, group)
    return group
  }
  for await (const users of pages((page) => lists.listUsers(tenant, page))) {
    const subs = users.map(({ sub }) => sub)
    const blocked = await areBlocked(lists, tenant, subs)
    for (const [at, user] of users.entries()) {
      if (blocked[at] === true) continue
      const { sub, email } = user
      add(groupOf(seatsHeld(user).map(({ name }) => name)).users, { sub, email })
    }
  }
  for await (const keys of pages((page) => lists.listApiKeys(tenant, page))) {
    const blocked = await ofBlockedOwners(lists, tenant, keys)
    for (const [at, key] of keys.entries())
      if (blocked[at] !== true && isAccepted(key, now))
        add(groupOf(key.seats).keys, { id: key.id, name: key.name })
  }
  return [...groups.values()]
}

async function* pages<V>(list: (page: Page) => Promise<Listing<V>>): AsyncGenerator<readonly V[]> {
  for (let after: string | null = null; ;) {
    const { data, next }: Listing<V> = await list({ limit: PAGE, after, scope: EVERYTHING })
    yield data
    if (next === null) return
    after = next
  }
}

function none<V>(): Named<V> {
  return { count: 0, first: [] }
}

function add<V>(named: Named<V>, one: V): void {
  if (named.count++ < MOST_NAMES) named.first.push(one)
}

/** The spaces in which a caller may use an entry. `all`: no Seat is needed. */
type Access = ReadonlySet<string> | 'all'

const NOWHERE: ReadonlySet<string> = new Set()

/** The access of each group; a group that is left out has none. */
type GroupAccess = ReadonlyMap<CallerGroup, ReadonlySet<string>> | 'all'

/** Answers who moves by a change. Callers are compared once for each pair of requirements. */
export class CallerComparison {
  readonly #tenant: string
  readonly #seats: readonly PlacedSeat[]
  readonly #groups: readonly CallerGroup[]
  readonly #groupsBySeat = new Map<string, CallerGroup[]>()
  /** The Seats by each of their permissions; null: not made yet. */
  #byPermission: ReadonlyMap<string, readonly PlacedSeat[]> | null = null
  readonly #byPair = new Map<string, MovedCallers>()

  constructor(tenant: string, seats: readonly PlacedSeat[], groups: readonly CallerGroup[]) {
    this.#tenant = tenant
    this.#seats = seats
    this.#groups = groups
  }

  /** In small steps. */
  *moved(before: Route | null, after: Route | null): Generator<null, MovedCallers> {
    const pair = JSON.stringify([this.#keyOf(before), this.#keyOf(after)])
    const known = this.#byPair.get(pair)
    if (known !== undefined) return known
    const [had, has] = [yield* this.#accessTo(before), yield* this.#accessTo(after)]
    const users = new Moves<NamedUser>(({ sub, email }) => email ?? sub)
    const keys = new Moves<NamedKey>(({ name }) => name)
    // Most of 10,000 pairs concern few callers.
    const some = had === 'all' || has === 'all' ? this.#groups : new Set([...had.keys(), ...has.keys()])
    for (const group of some) {
      yield null
      const [old, now] = [spacesOf(had, group), spacesOf(has, group)]
      const [gains, loses] = [isWider(now, old), isWider(old, now)]
      users.count(group.users, gains, loses)
      keys.count(group.keys, gains, loses)
    }
    const moved = { users: users.result(), api_keys: keys.result() }
    this.#byPair.set(pair, moved)
    return moved
  }

  /** What access depends on. */
  #keyOf(route: Route | null): string | null {
    if (route === null || !takesTenant(route, this.#tenant)) return null
    return needsPermission(route.requirement) ? `${route.requirement} ${fixedSpace(route) ?? ''}` : ''
  }

  *#accessTo(route: Route | null): Generator<null, GroupAccess> {
    const spaces = new Map<CallerGroup, Set<string>>()
    if (route === null || !takesTenant(route, this.#tenant)) return spaces
    const { requirement } = route
    if (!needsPermission(requirement)) return 'all'
    const fixed = fixedSpace(route)
    const byPermission = (this.#byPermission ??= yield* this.#index())
    const granting = new Set([requirement, EVERY_PERMISSION].flatMap((each) => byPermission.get(each) ?? []))
    for (const seat of granting) {
      const granted = fixed === null ? seat.spaces : seat.spaces.filter((space) => space === fixed)
      for (const group of this.#groupsBySeat.get(seat.name) ?? []) {
        const all = spaces.get(group) ?? new Set()
        for (const space of granted) all.add(space)
        spaces.set(group, all)
        yield null
      }
    }
    return spaces
  }

  *#index(): Generator<null, ReadonlyMap<string, readonly PlacedSeat[]>> {
    const byPermission = new Map<string, PlacedSeat[]>()
    for (const seat of this.#seats) {
      yield null
      for (const permission of seat.permissions) addTo(byPermission, permission, seat)
    }
    for (const group of this.#groups) {
      yield null
      for (const name of group.seats) addTo(this.#groupsBySeat, name, group)
    }
    return byPermission
  }
}

function addTo<V>(lists: Map<string, V[]>, key: string, one: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [one])
  else list.push(one)
}

function spacesOf(access: GroupAccess, group: CallerGroup): Access {
  return access === 'all' ? access : (access.get(group) ?? NOWHERE)
}

/** The only space that an entry accepts; null: the request names it. */
function fixedSpace({ space }: Route): string | null {
  return space.kind === 'fixed' ? space.space : null
}

/** Where no Seat is needed, spaces do not count: it is wider than no access alone. */
function isWider(one: Access, other: Access): boolean {
  if (other === 'all') return false
  if (one === 'all') return other.size === 0
  return [...one].some((space) => !other.has(space))
}

class Moves<V> {
  readonly #nameOf: (one: V) => string
  readonly #gain = none<V>()
  readonly #lose = none<V>()

  constructor(nameOf: (one: V) => string) {
    this.#nameOf = nameOf
  }

  count(group: Named<V>, gains: boolean, loses: boolean): void {
    if (gains) join(this.#gain, group)
    if (loses) join(this.#lose, group)
  }

  result(): Moved<V> {
    return {
      gain: this.#sorted(this.#gain),
      lose: this.#sorted(this.#lose),
      gain_count: this.#gain.count,
      lose_count: this.#lose.count,
    }
  }

  #sorted({ first }: Named<V>): V[] {
    const rows = first.map((one) => ({ one, name: this.#nameOf(one) }))
    const byName = (one: string, other: string) => Number(one > other) - Number(one < other)
    return rows.sort((row, other) => byName(row.name, other.name)).map(({ one }) => one)
  }
}

function join<V>(all: Named<V>, { count, first }: Named<V>): void {
  all.count += count
  all.first.push(...first.slice(0, MOST_NAMES - all.first.length))
}
