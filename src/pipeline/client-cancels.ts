/**
 * Clients behind a trusted proxy that speaks HTTP/2 share its connections. Their cancelled requests do not end these, and have a
 * budget for each client instead: beyond it, the requests of the client are refused.
 */

import type { ClientRequest } from '../http/server/client-request.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { EventBudget, type EventLimits } from '../lib/event-budget.ts'
import { Refusal } from '../model/errors.ts'
import { forwardedNetwork } from '../proxy/client-network.ts'
import type { TrustedProxies } from '../proxy/forwarded.ts'

/** As of the connection of one client. */
const CANCELS: EventLimits = { burst: 1000, rate: 100 }
/** Clients whose cancels are counted; the one that began longest ago is forgotten first. */
const MAX_CLIENTS = 10_000

const refused = new Refusal('rate_limited', 'The client has cancelled too many requests.', {
  retryAfter: 1000,
})

export class ClientCancels {
  /** By network. */
  readonly #budgets = new Map<string, EventBudget>()
  /** Those beyond their budget, as of their last request. */
  readonly #exceeded = new Set<string>()

  /** A request has ended before its response. */
  ended({ refusal, request, question }: Exchange, proxies: TrustedProxies): void {
    if (!request.http2 || refusal !== null || question !== null) return
    const client = forwardedNetwork(request, proxies)
    if (client === null) return
    if (!this.#budgetOf(client).spend()) this.#exceeded.add(client)
  }

  /** null: the request is served. */
  refusalOf(request: ClientRequest, proxies: TrustedProxies): Refusal | null {
    if (this.#exceeded.size === 0 || !request.http2) return null
    const client = forwardedNetwork(request, proxies)
    if (client === null || !this.#exceeded.has(client)) return null
    if (this.#budgets.get(client)?.isUsedUp === true) return refused
    this.#exceeded.delete(client)
    return null
  }

  #budgetOf(client: string): EventBudget {
    let budget = this.#budgets.get(client)
    if (budget !== undefined) return budget
    budget = new EventBudget(CANCELS)
    this.#budgets.set(client, budget)
    if (this.#budgets.size > MAX_CLIENTS) this.#forgetOldest()
    return budget
  }

  #forgetOldest(): void {
    for (const client of this.#budgets.keys()) {
      this.#budgets.delete(client)
      this.#exceeded.delete(client)
      return
    }
  }
}
