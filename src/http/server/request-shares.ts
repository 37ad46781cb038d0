/**
 * Limits requests in flight by tenant and, behind trusted proxies, by client, so that none of them occupies
 * all connections. Counting begins only when one of them could exceed its limit.
 */

import type { Limits } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import { type Entry, Ledger } from '../../lib/ledger.ts'
import type { Exchange } from './exchange.ts'

export type RequestShareLimits = Pick<
  Limits,
  'connections' | 'connectionsPerAddress' | 'connectionsPerTenant'
>

/** The kind of the exceeded limit. */
type ShareOf = 'tenant' | 'address'

/** The share of connections with a request in flight beyond which connections are scarce. */
const SCARCITY_SHARE = 3 / 4
/** The share of all connections for one client behind a proxy while connections are scarce. */
const CLIENT_SHARE = 1 / 16

const refusals: Readonly<Record<ShareOf, Refusal>> = {
  tenant: new Refusal('unavailable', 'The tenant has reached its limit of requests in flight.'),
  address: new Refusal(
    'unavailable',
    'The client has reached the limit of requests in flight for one address.',
  ),
}

export class RequestShares {
  readonly #active: Iterable<Exchange> & { readonly size: number }
  readonly #clientOf: (exchange: Exchange) => string | null
  readonly #refused: (of: ShareOf) => void
  readonly #tenants = new Ledger<Exchange>()
  readonly #clients = new Ledger<Exchange>()
  readonly #counted = new Map<Exchange, readonly (Entry<Exchange> | null)[]>()
  #counting = false
  /** The number of requests in flight up to which nothing is counted. */
  #countingThreshold = Infinity
  #perTenant = Infinity
  #perClient = Infinity

  /**
   * @param active exchanges in flight
   * @param clientOf null if its connection is counted instead, or if the client is unknown
   */
  constructor(
    active: Iterable<Exchange> & { readonly size: number },
    clientOf: (exchange: Exchange) => string | null,
    refused: (of: ShareOf) => void,
  ) {
    this.#active = active
    this.#clientOf = clientOf
    this.#refused = refused
  }

  configure({ connections, connectionsPerAddress, connectionsPerTenant }: RequestShareLimits): void {
    const scarce = Math.floor(connections * SCARCITY_SHARE)
    const isSet = connectionsPerAddress < connections
    this.#perTenant = connectionsPerTenant
    this.#perClient = isSet ? connectionsPerAddress : Math.max(1, Math.floor(connections * CLIENT_SHARE))
    this.#countingThreshold = Math.min(connectionsPerTenant, isSet ? connectionsPerAddress : scarce)
    this.#stop()
  }

  /**
   * Counts an allowed request.
   *
   * @returns the refusal, or null if it is admitted
   */
  admit(exchange: Exchange): Refusal | null {
    if (this.#active.size <= this.#countingThreshold) {
      if (this.#counting && this.#active.size < this.#countingThreshold * SCARCITY_SHARE) this.#stop()
      else if (this.#counting) this.#count(exchange)
      return null
    }
    if (!this.#counting) this.#start(exchange)
    const tenant = tenantOf(exchange)
    const client = this.#clientOf(exchange)
    const over =
      tenant !== null && this.#tenants.held(tenant) >= this.#perTenant
        ? 'tenant'
        : client !== null && this.#clients.held(client) >= this.#perClient
          ? 'address'
          : null
    if (over === null) {
      this.#count(exchange)
      return null
    }
    this.#refused(over)
    return refusals[over]
  }

  /** The exchange has ended. */
  ended(exchange: Exchange): void {
    if (this.#counting) this.#discount(exchange)
  }

  #start(except: Exchange): void {
    this.#counting = true
    for (const exchange of this.#active)
      if (exchange !== except && exchange.evaluation?.refusal === null) this.#count(exchange)
  }

  #stop(): void {
    this.#counting = false
    for (const exchange of this.#counted.keys()) this.#discount(exchange)
  }

  /** Once, even if it was counted when counting began. */
  #count(exchange: Exchange): void {
    if (this.#counted.has(exchange)) return
    const tenant = tenantOf(exchange)
    const client = this.#clientOf(exchange)
    this.#counted.set(exchange, [
      tenant === null ? null : this.#tenants.add(exchange, [tenant]),
      client === null ? null : this.#clients.add(exchange, [client]),
    ])
  }

  #discount(exchange: Exchange): void {
    for (const entry of this.#counted.get(exchange) ?? []) entry?.remove()
    this.#counted.delete(exchange)
  }
}

/** The tenant of the credential; null if there is none. */
export function tenantOf({ evaluation }: Exchange): string | null {
  return evaluation?.decision.principal?.tenant ?? null
}
