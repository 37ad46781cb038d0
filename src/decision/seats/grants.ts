/**
 * Grants of users, as the store last returned them. As with restrictions, the list of a tenant with few
 * grants is kept as a whole, so that a decision on a user without a grant needs no read.
 *
 * A grant counts while two clocks say that it has begun and has not ended: that of the store, which this
 * process continues by its monotonic clock, and the wall clock of this process. So a clock that is wrong
 * takes a grant away, and never gives or extends one.
 */

import {
  type GrantsReading,
  type GrantTerm,
  isGrantInForce,
  type UserGrantsReading,
} from '../../../seats-admin/model/grant.ts'
import { MAP_BYTES, MAP_ENTRY_BYTES, NUMBER_BYTES, OBJECT_BYTES, textBytes } from '../../lib/heap-size.ts'
import type { Trace } from '../../model/decision.ts'
import type { Principal } from '../../model/principal.ts'
import { type AsOf, type Question, ReadThrough, type ReadThroughOptions, WHOLE } from './read-through.ts'

/** What grants depend on. */
export type Grantee = Pick<Principal, 'method' | 'tenant' | 'owner'>

/** The grants of a user that are in force at a time: one object for as long as they are the same. */
export class GrantsInForce {
  /** At most one of a Seat: the one that ends last. */
  readonly grants: readonly GrantTerm[]
  readonly #user: UserGrants

  constructor(user: UserGrants, grants: readonly GrantTerm[]) {
    this.#user = user
    this.grants = grants
  }

  /**
   * Whether the same grants are in force now.
   *
   * @param now monotonic ms
   * @param wall ms since the epoch
   */
  isCurrent(now: number, wall: number): boolean {
    return this.#user.inForce(now, wall) === this
  }
}

/** A reading of the store, with the monotonic ms before it was sent. */
interface Sent<R> {
  readonly reading: R
  readonly sent: number
}

/** @param now monotonic ms */
export async function withTime<R>(now: () => number, read: () => Promise<AsOf<R>>): Promise<AsOf<Sent<R>>> {
  const sent = now()
  const { value: reading, ...asOf } = await read()
  return { ...asOf, value: { reading, sent } }
}

/**
 * What the monotonic clock is ahead of the store, in ms: the answer of the store was on its way for some
 * time.
 */
interface Offset {
  readonly least: number
  readonly most: number
}

/** The grants of one user in one reading. */
export class UserGrants {
  /** Those that end last come first. */
  readonly #terms: readonly GrantTerm[]
  readonly #offset: Offset
  #latest: GrantsInForce

  constructor(terms: readonly GrantTerm[], offset: Offset) {
    this.#terms = terms.toSorted((one, other) => other.until - one.until)
    this.#offset = offset
    this.#latest = new GrantsInForce(this, [])
  }

  /**
   * @param now monotonic ms
   * @param wall ms since the epoch
   */
  inForce(now: number, wall: number): GrantsInForce {
    // The time of the store is between these. An answer that arrives late, as after a freeze, extends no
    // grant.
    const first = now - this.#offset.most
    const last = now - this.#offset.least
    const seats = new Set<string>()
    const grants = this.#terms.filter((each) => {
      if (!isGrantInForce(each, first) || !isGrantInForce(each, last)) return false
      return isGrantInForce(each, wall) && !seats.has(each.seat) && seats.add(each.seat)
    })
    const { grants: latest } = this.#latest
    const isSame = grants.length === latest.length && grants.every((each, at) => each === latest[at])
    if (!isSame) this.#latest = new GrantsInForce(this, grants)
    return this.#latest
  }

  /** As of {@link userGrantsBytes}. */
  get bytes(): number {
    const term = OBJECT_BYTES + 2 * NUMBER_BYTES
    const terms = this.#terms.map(({ id, seat }) => term + textBytes(id) + textBytes(seat))
    return terms.reduce((sum, bytes) => sum + bytes, 4 * OBJECT_BYTES + 2 * NUMBER_BYTES)
  }
}

/** The one list of a tenant. */
const LIST = ''

export class Grants {
  readonly #lists: ReadThrough<TenantGrants>
  /** The grants of users of tenants with many. */
  readonly #users: ReadThrough<UserGrants | null>
  readonly #now: () => number
  readonly #wall: () => number

  /**
   * @param options.now monotonic ms, of the readings' offsets too
   * @param options.wall ms since the epoch
   */
  constructor(options: {
    readonly now: () => number
    readonly wall: () => number
    readonly ofTenant: ReadThroughOptions<TenantGrants, Question>
    readonly ofUser: ReadThroughOptions<UserGrants | null, Question>
  }) {
    this.#now = options.now
    this.#wall = options.wall
    this.#lists = new ReadThrough(options.ofTenant)
    this.#users = new ReadThrough(options.ofUser)
  }

  /**
   * The grants of the caller that are in force now; null: none is, and none will be. An API key has none.
   * Synchronous while memory has them. Rejects if the store can't be asked.
   */
  of(
    { method, tenant, owner }: Grantee,
    trace?: Trace,
  ): GrantsInForce | null | Promise<GrantsInForce | null> {
    if (owner === null || method === 'api-key') return null
    // The list changes with each grant of the tenant. The decision depends on those of this user alone.
    const list = this.#lists.get(tenant, LIST, WHOLE, trace, owner)
    if (list instanceof Promise) return list.then((it) => this.#byList(it, tenant, owner, trace))
    return this.#byList(list, tenant, owner, trace)
  }

  #byList(
    { users }: TenantGrants,
    tenant: string,
    owner: string,
    trace: Trace | undefined,
  ): GrantsInForce | null | Promise<GrantsInForce | null> {
    const user = users === null ? this.#users.get(tenant, owner, WHOLE, trace) : users.get(owner)
    if (user instanceof Promise) return user.then((it) => this.#inForce(it))
    return this.#inForce(user)
  }

  #inForce(user: UserGrants | null | undefined): GrantsInForce | null {
    return user === null || user === undefined ? null : user.inForce(this.#now(), this.#wall())
  }

  /** The grants of a user have changed. */
  invalidate(tenant: string, user: string, seq: number): void {
    this.#lists.invalidate(tenant, LIST, seq)
    this.#users.invalidate(tenant, user, seq)
  }

  /** The grants of any user have changed. */
  invalidateTenant(tenant: string, seq: number): void {
    this.#lists.invalidate(tenant, LIST, seq)
    this.#users.invalidateTenant(tenant, seq)
  }

  clear(): void {
    this.#lists.clear()
    this.#users.clear()
  }

  get size(): number {
    return this.#lists.size + this.#users.size
  }
}

/** The grants of a tenant. */
export interface TenantGrants {
  /** The users with grants; null: too many to be kept as a whole. */
  readonly users: ReadonlyMap<string, UserGrants> | null
}

/** @param received monotonic ms */
export function tenantGrants({ reading, sent }: Sent<GrantsReading>, received: number): TenantGrants {
  const { now, users } = reading
  const offset = { least: sent - now, most: received - now }
  const entries = users?.map(({ user, grants }) => [user, new UserGrants(grants, offset)] as const)
  return { users: entries === undefined ? null : new Map(entries) }
}

/** @param received monotonic ms */
export function userGrants(
  { reading: { now, grants }, sent }: Sent<UserGrantsReading>,
  received: number,
): UserGrants | null {
  return grants.length === 0 ? null : new UserGrants(grants, { least: sent - now, most: received - now })
}

/** The size in the heap, in bytes; an upper estimate. */
export const userGrantsBytes = ({ bytes }: UserGrants): number => bytes

/** The size in the heap, in bytes; an upper estimate. */
export function tenantGrantsBytes({ users }: TenantGrants): number {
  if (users === null) return OBJECT_BYTES
  const entries = users.entries().map(([user, { bytes }]) => MAP_ENTRY_BYTES + textBytes(user) + bytes)
  return entries.reduce((sum, bytes) => sum + bytes, OBJECT_BYTES + MAP_BYTES)
}
