/**
 * What a caller is worth in a space: the Seats that the credential names there, each as it is now, and what they grant.
 * Worked out once for the many requests that come between two changes. Asked by the judge.
 *
 * Cache. Key: the principal, an object that is the same as long as its credential is remembered. Value: its standing in the
 * space it asked for last. Lives until memory lets go of anything at all, be it changed or pushed out: so it never rests
 * on a Seat that memory has not. Bound: that of the principals, which are counted with what is made of them.
 */

import { decide, type Outcome } from './authz/decide.ts'
import type { Grants, Principal, Requirement, Trace } from './exchange.ts'
import { resolve, type SeatLookup } from './seats/resolve.ts'

/** Memory, for who keeps what was made of it. */
export interface SeatsHeld extends SeatLookup {
  /** Grows whenever something is let go of: nothing that was made of what memory had before holds any more. */
  readonly removals: number
}

export class Standing {
  readonly space: string
  readonly grants: Grants
  #permission: Requirement | null = null
  #outcome: Outcome | null = null

  constructor(space: string, grants: Grants) {
    this.space = space
    this.grants = grants
  }

  /** The decision. Of the permission that was asked for last it is the same object. */
  decide(permission: Requirement): Outcome {
    if (this.#outcome === null || this.#permission !== permission) {
      this.#outcome = decide(this.grants, this.space, permission)
      this.#permission = permission
    }
    return this.#outcome
  }
}

export class Standings {
  readonly #seats: SeatsHeld
  #known = new WeakMap<Principal, Standing>()
  /** Of memory, when the first of those known was made. */
  #removals = 0

  constructor(seats: SeatsHeld) {
    this.#seats = seats
  }

  /** At once when memory can answer, which only then is remembered. Rejects when the store can't be asked. */
  of(principal: Principal, space: string, trace: Trace): Standing | Promise<Standing> {
    if (this.#removals !== this.#seats.removals) this.#startAnew()
    const known = this.#known.get(principal)
    if (known?.space === space) return known
    const grants = resolve(this.#seats, principal, space, trace)
    if (grants instanceof Promise) return grants.then((held) => new Standing(space, held))
    const standing = new Standing(space, grants)
    this.#known.set(principal, standing)
    return standing
  }

  #startAnew(): void {
    this.#known = new WeakMap()
    this.#removals = this.#seats.removals
  }
}
