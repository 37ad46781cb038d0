/**
 * Limits WebSockets that are open or in their handshake: of all, of each tenant and of each caller. WebSockets are
 * never evicted, so their number needs a bound.
 */

import { Refusal } from '../../model/errors.ts'
import type { Exchange } from './exchange.ts'
import { KeyedCounts } from './keyed-counts.ts'

export interface WebSocketLimits {
  readonly websockets: number
  readonly websocketsPerTenant: number
  readonly websocketsPerCaller: number
}

/** The bound that refused a handshake. */
export type WebSocketBound = 'all' | 'tenant' | 'caller'

const refusals: Readonly<Record<WebSocketBound, Refusal>> = {
  all: new Refusal('unavailable', 'The gateway has reached its limit of WebSockets.'),
  tenant: new Refusal('unavailable', 'The tenant has reached its limit of WebSockets.'),
  caller: new Refusal('unavailable', 'The caller has reached its limit of WebSockets.'),
}

export class WebSocketShares {
  readonly #refused: (by: WebSocketBound) => void
  readonly #counts = new KeyedCounts<Exchange>()

  constructor(refused: (by: WebSocketBound) => void) {
    this.#refused = refused
  }

  /**
   * For an allowed handshake.
   *
   * @returns null if it is admitted
   * @param address the client address, which identifies callers of public routes
   */
  admit(exchange: Exchange, address: string | null, limits: WebSocketLimits): Refusal | null {
    const [tenant, caller] = keysOf(exchange, address)
    const by =
      this.#counts.of(caller) >= limits.websocketsPerCaller
        ? 'caller'
        : this.#counts.of(tenant) >= limits.websocketsPerTenant
          ? 'tenant'
          : this.#counts.size >= limits.websockets
            ? 'all'
            : null
    if (by !== null) {
      this.#refused(by)
      return refusals[by]
    }
    this.#counts.add(exchange, [tenant, caller])
    return null
  }

  ended(exchange: Exchange): void {
    this.#counts.remove(exchange)
  }
}

function keysOf({ evaluation }: Exchange, address: string | null): [tenant: string, caller: string] {
  const principal = evaluation?.decision.principal ?? null
  if (principal === null) return ['public', `address ${address ?? 'unknown'}`]
  const { method, tenant, user } = principal
  // The tokens and sessions of a user count together. The id of an API key is not the id of a user.
  return [`tenant ${tenant}`, `${method === 'api-key' ? 'key' : 'user'} ${tenant} ${user}`]
}
