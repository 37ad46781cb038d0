/**
 * Clients of a trusted proxy that speaks HTTP/2 share its connections. Their cancelled requests do not end
 * these, and have a budget for each client instead: beyond it, the requests of the client are refused.
 */

import type { ClientRequest } from '../../http/server/client-request.ts'
import { externalQuestion } from '../../http/server/question.ts'
import { EventBudget, type EventLimits } from '../../lib/event-budget.ts'
import { Refusal } from '../../model/errors.ts'
import { forwardedNetwork } from '../../proxy/client-network.ts'
import type { Refuse } from '../../proxy/forward.ts'
import type { TrustedProxies } from '../../proxy/forwarded.ts'
import type { Observer } from '../observers/observer.ts'
import { ANSWERED, type Stage } from '../stage.ts'

/** The budget that the connection of one client has too. */
const CANCELS: EventLimits = { burst: 1000, rate: 100 }
/** Clients whose cancels are counted; the one that began longest ago is forgotten first. */
const MAX_CLIENTS = 10_000

const refused = new Refusal('rate_limited', 'The client has cancelled too many requests.', {
  retryAfter: 1000,
})

export class ClientCancels {
  /** The budgets by network of the client. */
  readonly #budgets = new Map<string, EventBudget>()
  /** The clients beyond their budget, as of their last request. */
  readonly #exceeded = new Set<string>()

  /** Refuses requests of clients beyond their budget. */
  limit(proxies: TrustedProxies, refuse: Refuse): Stage {
    return (exchange, next) => {
      if (!this.#refuses(exchange.request, proxies)) return next(exchange)
      refuse(exchange, refused, null)
      return ANSWERED
    }
  }

  /** Counts requests that ended before their response. */
  observer(proxies: TrustedProxies): Observer {
    return {
      ended: (exchange) => {
        const { aborted, refusal, request } = exchange
        if (!aborted || !request.http2 || refusal !== null || externalQuestion.get(exchange) !== undefined)
          return
        const client = forwardedNetwork(request, proxies)
        if (client !== null && !this.#budgetOf(client).spend()) this.#exceeded.add(client)
      },
    }
  }

  #refuses(request: ClientRequest, proxies: TrustedProxies): boolean {
    if (this.#exceeded.size === 0 || !request.http2) return false
    const client = forwardedNetwork(request, proxies)
    if (client === null || !this.#exceeded.has(client)) return false
    if (this.#budgets.get(client)?.isUsedUp === true) return true
    this.#exceeded.delete(client)
    return false
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
