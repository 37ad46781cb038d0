/**
 * The last stages of a decision: what the caller holds, as Seats and grants are now, and whether that
 * suffices.
 */

import { DecisionCache } from './decision-cache.ts'
import {
  authorize,
  type Authorization,
  countSeats,
  groupsOf,
  type HeldSeats,
  heldBy,
  isDeactivated,
  resolveHeld,
  type SeatLookup,
} from './authorize.ts'
import { allowed, type Draft, refused } from './draft.ts'
import type { ReceivedChanges } from './seats/received-changes.ts'
import type { CacheLookups } from '../model/cache-lookups.ts'
import type { Evaluation, ResolvedSeats } from '../model/decision.ts'
import { SeatQuestion } from '../model/decision-seat.ts'
import { Refusal } from '../model/errors.ts'
import { DEACTIVATED, type Groups } from '../model/membership.ts'
import type { Principal } from '../model/principal.ts'
import type { Requirement } from '../model/route.ts'

/**
 * So few Seats that a decision by them takes no longer than a look at the cache (`decision-cache.ts` has the
 * figures).
 */
const FEW_SEATS = 16

const deactivated = new Refusal('caller_blocked', 'The identity provider has deactivated this user.')
const noSeat = new Refusal('no_seat_in_space', 'The credential names no Seat in this space.')

const VALID = 'The credential is valid.'
const GRANTED = 'A Seat grants the permission in this space.'

export class SeatAuthorization {
  readonly #seats: SeatLookup
  readonly #fewSeats: number
  readonly #cache: DecisionCache

  /** @param options.fewSeats the authorization of a caller with more Seats for a space is cached */
  constructor(
    seats: SeatLookup & { readonly received: ReceivedChanges },
    options: { readonly fewSeats?: number; readonly lookups?: CacheLookups },
  ) {
    this.#seats = seats
    this.#fewSeats = options.fewSeats ?? FEW_SEATS
    this.#cache = new DecisionCache(seats.received, options.lookups?.authorizations)
  }

  /**
   * Decides by what the caller holds. Synchronous if memory has it. Rejects if the store can't be asked.
   *
   * @param space of the request, or the refusal of what it says
   */
  authorize(
    draft: Draft,
    requirement: Requirement,
    caller: Principal,
    space: string | Refusal,
  ): Evaluation | Promise<Evaluation> {
    // An `authenticated` route needs no Space, but a malformed one is refused on every route.
    if (requirement === 'authenticated' && (typeof space === 'string' || space.code === 'space_required')) {
      // For the log. No Seat is looked up in it.
      if (typeof space === 'string') draft.space = space
      const groups = groupsOf(this.#seats, caller, draft.reads)
      return groups instanceof Promise ? groups.then((late) => admit(draft, late)) : admit(draft, groups)
    }
    if (space instanceof Refusal) return refused(draft, space)
    draft.space = space
    const held = heldBy(this.#seats, caller, space, draft.reads)
    if (held instanceof Promise)
      return held.then((late) => this.#decide(draft, requirement, caller, space, late, false))
    return this.#decide(draft, requirement, caller, space, held, true)
  }

  /** @param isOfNow false: a change may have arrived since this was read, so that the result is not kept */
  #decide(
    draft: Draft,
    permission: Requirement,
    caller: Principal,
    space: string,
    held: HeldSeats,
    isOfNow: boolean,
  ): Evaluation | Promise<Evaluation> {
    if (isDeactivated(held)) return refused(draft, deactivated)
    const { grants } = held
    draft.grants = grants
    // A built-in endpoint may ask for the Seats themselves, which the cache does not hold.
    const cache = isForwarded(draft) && countSeats(held) > this.#fewSeats ? this.#cache : null
    const cached = cache?.get(caller, space, permission, grants) ?? null
    if (cached !== null) return conclude(draft, permission, cached)
    const question = new SeatQuestion(space, permission)
    const resolved = resolveHeld(this.#seats, caller.tenant, held, question, draft.reads)
    // A change may happen while the store is asked: the result serves this request alone.
    if (resolved instanceof Promise)
      return resolved.then((late) => conclude(draft, permission, byResolved(draft, permission, space, late)))
    const authorization = byResolved(draft, permission, space, resolved)
    if (isOfNow) cache?.set(caller, space, permission, authorization, grants)
    return conclude(draft, permission, authorization)
  }
}

/** @param groups those of the caller */
function admit(draft: Draft, groups: Groups | null): Evaluation {
  return groups === DEACTIVATED ? refused(draft, deactivated) : allowed(draft, VALID)
}

function isForwarded({ route }: Draft): boolean {
  return route?.target.kind === 'upstream'
}

function byResolved(
  draft: Draft,
  permission: Requirement,
  space: string,
  resolved: ResolvedSeats,
): Authorization {
  draft.endStage('resolve')
  draft.resolved = resolved
  const authorization = authorize(resolved, space, permission)
  draft.endStage('decide')
  return authorization
}

function conclude(draft: Draft, permission: Requirement, authorization: Authorization): Evaluation {
  draft.seats = authorization.seats
  if (authorization.code === 'allow') return allowed(draft, GRANTED)
  if (authorization.code === 'no_seat_in_space') return refused(draft, noSeat)
  const reason = `None of the caller's Seats in this space holds ${permission}.`
  return refused(draft, new Refusal('permission_denied', reason))
}
