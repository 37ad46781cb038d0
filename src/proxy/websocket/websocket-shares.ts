/** Bounds the WebSockets of all, of a tenant and of a caller. */

import type { Limits } from '../../config/config.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { type Entry, Ledger } from '../../lib/ledger.ts'
import { Refusal } from '../../model/errors.ts'
import { knownNetwork } from '../client-network.ts'
import type { TrustedProxies } from '../forwarded.ts'

export type WebSocketLimits = Pick<Limits, 'websockets' | 'websocketsPerTenant' | 'websocketsPerCaller'>

/** The bound that refused a handshake. */
type WebSocketBound = 'all' | 'tenant' | 'caller'

const refusals: Readonly<Record<WebSocketBound, Refusal>> = {
  all: new Refusal('unavailable', 'The gateway has reached its limit of WebSockets.'),
  tenant: new Refusal('unavailable', 'The tenant has reached its limit of WebSockets.'),
  caller: new Refusal('unavailable', 'The caller has reached its limit of WebSockets.'),
}

/**
 * Limits WebSockets that are open or in their handshake: of all, of each tenant and of each caller.
 * WebSockets are never evicted, so their number needs a bound.
 */
export class WebSocketShares {
  readonly #refused: (by: WebSocketBound) => void
  readonly #open = new Ledger<Exchange>()
  readonly #entries = new Map<Exchange, Entry<Exchange>>()

  constructor(refused: (by: WebSocketBound) => void) {
    this.#refused = refused
  }

  /**
   * For an allowed handshake.
   *
   * @returns null if it is admitted
   */
  admit(exchange: Exchange, proxies: TrustedProxies, limits: WebSocketLimits): Refusal | null {
    const [tenant, caller] = ownerOf(exchange, proxies)
    const by =
      this.#open.held(tenant, caller) >= limits.websocketsPerCaller
        ? 'caller'
        : this.#open.held(tenant) >= limits.websocketsPerTenant
          ? 'tenant'
          : this.#open.weight >= limits.websockets
            ? 'all'
            : null
    if (by !== null) {
      this.#refused(by)
      return refusals[by]
    }
    this.#entries.set(exchange, this.#open.add(exchange, [tenant, caller]))
    return null
  }

  ended(exchange: Exchange): void {
    this.#entries.get(exchange)?.remove()
    this.#entries.delete(exchange)
  }
}

/** Callers of public routes are identified by their networks. */
function ownerOf(
  { request, evaluation }: Exchange,
  proxies: TrustedProxies,
): [tenant: string, caller: string] {
  const principal = evaluation?.decision.principal ?? null
  if (principal === null) return ['public', `address ${knownNetwork(request, proxies) ?? 'unknown'}`]
  const { method, tenant, user } = principal
  // The tokens and sessions of a user count together. The id of an API key is not the id of a user.
  return [`tenant ${tenant}`, `${method === 'api-key' ? 'key' : 'user'} ${user}`]
}
