/**
 * WebSockets that are open, or whose handshake is under way: in all, of each tenant and of each caller. They are never
 * closed to make room, so there may be only so many of them.
 */

import { Refusal } from '../../model/errors.ts'
import type { Exchange } from './exchange.ts'
import { KeyedCounts } from './keyed-counts.ts'

export interface WebSocketLimits {
  readonly websockets: number
  readonly websocketsPerTenant: number
  readonly websocketsPerCaller: number
}

/** Which bound a handshake was refused by. */
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
   * The handshake was allowed. @returns null when it may go on
   *
   * @param address of the client, by which those are told apart who need no credential
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
  // A user has as many with tokens and sessions together; the id of an API key is no user's.
  return [`tenant ${tenant}`, `${method === 'api-key' ? 'key' : 'user'} ${tenant} ${user}`]
}
