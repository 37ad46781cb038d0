/**
 * Requests that wait for a connection. The queue takes tenants in turn, callers of a tenant in turn, and the requests
 * of a caller in order of arrival. A caller with many requests delays itself, not others.
 */

import { type Account, type Entry, Ledger } from '../../lib/ledger.ts'
import {
  namesOf,
  type UpstreamRequest,
  type RequestOwner,
  type ResponseReceiver,
} from './upstream-request.ts'

export interface QueuedRequest {
  readonly request: UpstreamRequest
  readonly receiver: ResponseReceiver
  /** The request holds an upload slot. */
  readonly uploads: boolean
  /** Monotonic ms. */
  readonly since: number
}

export class FairQueue {
  readonly #waiting = new Ledger<QueuedRequest>()

  get size(): number {
    return this.#waiting.weight
  }

  add(item: QueuedRequest): void {
    this.#waiting.add(item, namesOf(item.receiver.owner))
  }

  /** Takes the next request. */
  take(): QueuedRequest | undefined {
    return this.size === 0 ? undefined : this.#take(this.#waiting.next()?.first)
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
    return this.#take(this.#waiting.greedierThan(namesOf(owner))?.last)
  }

  /** Removes the request of this receiver. The turns of the others stay. */
  remove(receiver: ResponseReceiver): QueuedRequest | undefined {
    if (this.size === 0) return undefined
    const { tenant, caller } = receiver.owner
    let entry = this.#waiting.account(tenant, caller)?.first ?? null
    while (entry !== null && entry.item.receiver !== receiver) entry = entry.next
    entry?.remove()
    return entry?.item
  }

  /** For each caller, the number of requests that wait since that time or longer; at least one. */
  *overdue(since: number): Generator<readonly [owner: RequestOwner, count: number]> {
    for (const tenant of this.#waiting.accounts)
      for (const caller of tenant.accounts) {
        let count = 0
        for (let entry = caller.first; entry !== null && entry.item.since <= since; entry = entry.next)
          count++
        if (count > 0) yield [{ tenant: tenant.name, caller: caller.name }, count]
      }
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
