/**
 * The last outcome of each caller, for as long as nothing has been heard of to have changed: who asks for much the same
 * again and again is not looked up each time.
 *
 * Cache. Key: the principal, an object that is the same as long as its credential is remembered, and the space and the
 * permission that it asked for last. Value: names and verdicts, never a Seat. Counts until memory hears of any change,
 * or of a reading of the feed: so it never outlives a change that was answered, and what is in use is looked up, and
 * counts as used, with each reading. Bound: that of the principals, which are counted with it (`heap-size.ts`).
 */

import type { Authorization } from './authorize.ts'
import type { Principal } from '../model/principal.ts'
import type { Requirement } from '../model/route.ts'
import { detachedText } from '../lib/heap-size.ts'

/** Memory, for who keeps what was made of it. */
export interface Generation {
  /** Another number: what was made of memory before counts no more. */
  readonly generation: number
}

interface Last {
  generation: number
  space: string
  permission: Requirement
  authorization: Authorization
}

export class DecisionCache {
  readonly #memory: Generation
  readonly #last = new WeakMap<Principal, Last>()

  constructor(memory: Generation) {
    this.#memory = memory
  }

  /** Null: it has to be worked out. */
  known(principal: Principal, space: string, permission: Requirement): Authorization | null {
    const last = this.#last.get(principal)
    if (last === undefined || last.generation !== this.#memory.generation) return null
    return last.space === space && last.permission === permission ? last.authorization : null
  }

  /** @param outcome just now, of what memory gave at once */
  keep(principal: Principal, space: string, permission: Requirement, authorization: Authorization): void {
    const { generation } = this.#memory
    const last = this.#last.get(principal)
    if (last === undefined) {
      this.#last.set(principal, { generation, space: detachedText(space), permission, authorization })
      return
    }
    last.generation = generation
    // Cut out of a request, it would keep all of it, credentials and all. An id of a space is ASCII.
    if (last.space !== space) last.space = detachedText(space)
    last.permission = permission
    last.authorization = authorization
  }
}
