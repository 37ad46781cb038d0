/**
 * Blocks and revocations of users, as the store last returned them. The list of a tenant with few restricted
 * users is kept as a whole, so that a decision on another user needs no read. The restriction of a user of a
 * tenant with hundreds is read by itself. The revocations of issuers and of the whole tenant are in the list.
 *
 * A block ends once its end is past by two clocks. One is the store's: a reading has its time, and this
 * process continues it from the receipt by its monotonic clock, never ahead of the store. The other is the
 * wall clock of this process at the decision: a reading may be kept for long, and the clock of the store may
 * have been ahead when it was made. A revocation never ends, and needs no clock.
 */

import { performance } from 'node:perf_hooks'
import type {
  RestrictionsReading,
  UserRestriction,
  UserRestrictionReading,
} from '../../../seats-admin/model/revocation.ts'
import { MAP_BYTES, MAP_ENTRY_BYTES, NUMBER_BYTES, OBJECT_BYTES, textsBytes } from '../../lib/heap-size.ts'
import type { Trace } from '../../model/decision.ts'
import { Refusal } from '../../model/errors.ts'
import { issuerOf } from '../../model/issuer-user.ts'
import type { Principal } from '../../model/principal.ts'
import { tokenRevoked } from '../../model/revoked.ts'
import { ReadThrough, type ReadThroughOptions, WHOLE, type Question } from './read-through.ts'

/** What a restriction depends on. */
export type Restrictable = Pick<Principal, 'method' | 'tenant' | 'owner' | 'issuedAt'>

/** Synchronous while memory has the restrictions. Rejects if the store can't be asked. */
export interface RestrictionLookup {
  /**
   * Why the credential counts for nothing: a revocation has voided it (`token_revoked`), or else its owner is
   * blocked (`caller_blocked`). Null: it is not restricted.
   */
  restriction(caller: Restrictable, trace?: Trace): Refusal | null | Promise<Refusal | null>
}

/**
 * A time that there is none of. No comparison with it is true: not even a token without `iat`, at -Infinity,
 * was issued up to it.
 */
const NEVER = NaN

/** The restriction of one user. */
interface UserLimits {
  /** Whole seconds since the epoch, or {@link NEVER}: tokens that were issued up to then are void. */
  readonly cutoff: number
  /** The end of the block in ms since the epoch; Infinity: until it is deleted; {@link NEVER}: no block. */
  readonly blockEnd: number
  /** What the monotonic clock is ahead of the store, in ms. */
  readonly offset: number
}

/** The restrictions of a tenant. */
interface TenantLimits {
  /** The restricted users; null: too many to be kept as a whole. */
  readonly users: ReadonlyMap<string, UserLimits> | null
  /** Issuer → cutoff, as of users; null: there are none. */
  readonly issuers: ReadonlyMap<string, number> | null
  /** The cutoff of the whole tenant, as of users. */
  readonly cutoff: number
}

/** The one list of a tenant. */
const LIST = ''

/** The time, in monotonic ms. */
export const monotonic = (): number => performance.now()

const blocked = new Refusal(
  'caller_blocked',
  'An administrator or the identity provider has blocked this user.',
)

export class Restrictions implements RestrictionLookup {
  readonly #lists: ReadThrough<TenantLimits>
  /** The restrictions of users of tenants with many. */
  readonly #users: ReadThrough<UserLimits | null>
  readonly #now: () => number
  readonly #wall: () => number

  /**
   * @param options.now monotonic ms, of the readings' offsets too
   * @param options.wall ms since the epoch
   */
  constructor(options: {
    readonly now: () => number
    readonly wall: () => number
    readonly ofTenant: ReadThroughOptions<TenantLimits, Question>
    readonly ofUser: ReadThroughOptions<UserLimits | null, Question>
  }) {
    this.#now = options.now
    this.#wall = options.wall
    this.#lists = new ReadThrough(options.ofTenant)
    this.#users = new ReadThrough(options.ofUser)
  }

  restriction(caller: Restrictable, trace?: Trace): Refusal | null | Promise<Refusal | null> {
    const { owner, tenant } = caller
    if (owner === null) return null
    // The list changes with each restriction of the tenant. The decision depends on those of this user alone.
    const list = this.#lists.get(tenant, LIST, WHOLE, trace, owner)
    if (list instanceof Promise) return list.then((it) => this.#byList(it, caller, owner, trace))
    return this.#byList(list, caller, owner, trace)
  }

  #byList(
    list: TenantLimits,
    caller: Restrictable,
    owner: string,
    trace: Trace | undefined,
  ): Refusal | null | Promise<Refusal | null> {
    const { users, issuers, cutoff } = list
    if (caller.issuedAt <= cutoff) return tokenRevoked(cutoff)
    const ofIssuer = issuers !== null && caller.method === 'issuer' ? issuers.get(issuerOf(owner)) : undefined
    if (ofIssuer !== undefined && caller.issuedAt <= ofIssuer) return tokenRevoked(ofIssuer)
    const limits = users === null ? this.#users.get(caller.tenant, owner, WHOLE, trace) : users.get(owner)
    if (limits instanceof Promise) return limits.then((it) => this.#byUser(it, caller))
    return this.#byUser(limits, caller)
  }

  #byUser(limits: UserLimits | null | undefined, { issuedAt }: Restrictable): Refusal | null {
    if (limits === null || limits === undefined) return null
    const { cutoff, blockEnd, offset } = limits
    if (issuedAt <= cutoff) return tokenRevoked(cutoff)
    return this.#now() - offset < blockEnd || this.#wall() < blockEnd ? blocked : null
  }

  /** The restriction of a user has changed. */
  invalidate(tenant: string, user: string, seq: number): void {
    this.invalidateTenant(tenant, seq)
    this.#users.invalidate(tenant, user, seq)
  }

  /** The cutoff of the tenant has changed, or of one of its issuers. */
  invalidateTenant(tenant: string, seq: number): void {
    this.#lists.invalidate(tenant, LIST, seq)
  }

  clear(): void {
    this.#lists.clear()
    this.#users.clear()
  }

  get size(): number {
    return this.#lists.size + this.#users.size
  }
}

/** @param received monotonic ms */
export function tenantLimits(reading: RestrictionsReading, received: number): TenantLimits {
  const { now, users, tenant } = reading
  const issuers = Object.entries(reading.issuers)
  return {
    users: users && new Map(users.map((each) => [each.user, limitsOf(each, received - now)])),
    issuers: issuers.length === 0 ? null : new Map(issuers),
    cutoff: tenant ?? NEVER,
  }
}

/** @param received monotonic ms */
export function userLimits(
  { now, restriction }: UserRestrictionReading,
  received: number,
): UserLimits | null {
  return restriction && limitsOf(restriction, received - now)
}

function limitsOf({ block, cutoff }: UserRestriction, offset: number): UserLimits {
  const blockEnd = block === null ? NEVER : (block.until ?? Infinity)
  return { cutoff: cutoff ?? NEVER, blockEnd, offset }
}

/** The size in the heap, in bytes; an upper estimate. */
export function tenantLimitsBytes({ users, issuers }: TenantLimits): number {
  const [ofUsers, ofIssuers] = [mapBytes(users, USER_LIMITS_BYTES), mapBytes(issuers, NUMBER_BYTES)]
  return OBJECT_BYTES + NUMBER_BYTES + ofUsers + ofIssuers
}

function mapBytes(map: ReadonlyMap<string, unknown> | null, value: number): number {
  return map === null ? 0 : MAP_BYTES + textsBytes(map.keys()) + map.size * (MAP_ENTRY_BYTES + value)
}

export const USER_LIMITS_BYTES = OBJECT_BYTES + 3 * NUMBER_BYTES
