/**
 * How the requests of a target share its slots. A slot is a connection of HTTP/1.1, a stream of HTTP/2, or
 * the right to upload while the client still sends.
 *
 * Requests wait in a {@link FairQueue}. It takes tenants in turn, callers of a tenant in turn, and the
 * requests of a caller in order of arrival. Of uploads, it takes the one whose owner holds the fewest upload
 * slots (`takeFewest`). A caller with many requests delays itself, not others. `slot-eviction.ts` ends
 * requests that keep their slots while others wait. `request-pool.ts` has the number of slots of each kind,
 * and `target.ts` of `src/proxy` keeps uploads to half of a target's capacity.
 */

import { type Account, type Entry, Ledger } from '../../lib/ledger.ts'
import type { RequestOwner, ResponseReceiver, UpstreamRequest } from './upstream-request.ts'

export interface QueuedRequest {
  readonly request: UpstreamRequest
  readonly receiver: ResponseReceiver
  /** The request holds an upload slot. */
  readonly uploads: boolean
  /** Monotonic ms. */
  readonly since: number
}

/**
 * Whether a request of this owner may begin now.
 *
 * @param caller null if any caller of the tenant will do
 */
export type Admission = (tenant: string, caller: string | null) => boolean

export class FairQueue {
  readonly #waiting = new Ledger<QueuedRequest>()

  get size(): number {
    return this.#waiting.weight
  }

  add(item: QueuedRequest): void {
    this.#waiting.add(item, item.receiver.owner)
  }

  /** Takes the next request. */
  take(): QueuedRequest | undefined {
    return this.size === 0 ? undefined : this.#take(this.#waiting.next()?.first)
  }

  /** Whether {@link takeAdmitted} would find one. */
  hasAdmitted(admission: Admission): boolean {
    return this.#nextAdmitted(admission) !== null
  }

  /** Takes the next request of those that may begin now. */
  takeAdmitted(admission: Admission): QueuedRequest | undefined {
    return this.#take(this.#nextAdmitted(admission)?.first)
  }

  #nextAdmitted(admission: Admission): Account<QueuedRequest> | null {
    for (const tenant of this.#waiting.accounts) {
      if (!admission(tenant.name, null)) continue
      for (const caller of tenant.accounts) if (admission(tenant.name, caller.name)) return caller
    }
    return null
  }

  /** Takes the next request of the tenant with the fewest slots, and there of the caller with the fewest. */
  takeFewest(slots: Ledger<unknown>): QueuedRequest | undefined {
    let [best, least] = [null as Account<QueuedRequest> | null, [Infinity, Infinity] as const]
    for (const tenant of this.#waiting.accounts) {
      const held = slots.held(tenant.name)
      if (held > least[0]) continue
      for (const caller of tenant.accounts) {
        const own = slots.held(tenant.name, caller.name)
        if (held === least[0] && own >= least[1]) continue
        best = caller
        least = [held, own]
      }
    }
    return this.#take(best?.first)
  }

  /** Takes the newest request of the caller that gives one up for `owner`. */
  takeFromGreediest(owner: RequestOwner): QueuedRequest | undefined {
    return this.#take(this.#waiting.greedierThan(owner)?.last)
  }

  /** Removes the request of this receiver. The turns of the others stay. */
  remove(receiver: ResponseReceiver): QueuedRequest | undefined {
    if (this.size === 0) return undefined
    let entry = this.#waiting.account(...receiver.owner)?.first ?? null
    while (entry !== null && entry.item.receiver !== receiver) entry = entry.next
    entry?.remove()
    return entry?.item
  }

  /** The callers with requests that have waited since that time or longer, and the number of these. */
  *overdue(since: number): Generator<readonly [owner: RequestOwner, count: number]> {
    for (const tenant of this.#waiting.accounts)
      for (const caller of tenant.accounts) {
        let count = 0
        for (let entry = caller.first; entry !== null && entry.item.since <= since; entry = entry.next)
          count++
        if (count > 0) yield [[tenant.name, caller.name], count]
      }
  }

  /** Whether a request waits since that time or longer. */
  isOverdue(since: number): boolean {
    return this.overdue(since).next().done !== true
  }

  *[Symbol.iterator](): Generator<QueuedRequest> {
    for (const { item } of this.#waiting) yield item
  }

  /** It was the turn of its owner. */
  #take(entry: Entry<QueuedRequest> | null | undefined): QueuedRequest | undefined {
    const account = entry?.queue
    entry?.remove()
    account?.endTurn()
    return entry?.item
  }
}
