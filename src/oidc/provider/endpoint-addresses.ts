/**
 * The addresses that a provider's endpoints may be at. The issuer's own host and port, and those in `endpoint_hosts`, are
 * the operator's choice and may be inner ones. Any other is the discovery document's choice, and may lead to no inner
 * address: checked on the address that a connection is made to, so that a name that changes its address gains nothing.
 */

import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import type { OidcConfig } from '../../config/config.ts'
import { cleanedName } from './log-text.ts'
import { isInnerAddress } from './inner-address.ts'
import { isLocalhost, type NameLookup } from './name-lookup.ts'
import { ProviderError } from './provider-error.ts'

type Place = Pick<URL, 'protocol' | 'hostname' | 'port'>

export class EndpointAddresses {
  readonly #names: NameLookup
  /** `host:port` */
  readonly #configured: ReadonlySet<string>

  constructor({ issuer, endpointHosts }: Pick<OidcConfig, 'issuer' | 'endpointHosts'>, names: NameLookup) {
    this.#names = names
    const own = URL.parse(issuer)
    this.#configured = new Set([...endpointHosts.map(bare), ...(own === null ? [] : [hostAndPort(own)])])
  }

  /** For a host as it is written; the addresses of a name are checked when it is looked up. Null: it may be asked. */
  troubleOf(url: string, what: string): ProviderError | null {
    const place = URL.parse(url)
    if (place === null || this.#configured.has(hostAndPort(place))) return null
    const host = bare(place.hostname)
    const inner = isIP(host) === 0 ? isLocalhost(host) : isInnerAddress(host)
    return inner ? innerTrouble(what, hostAndPort(place)) : null
  }

  /** For undici's Agent. @param timeout ms until a connection stands, the look-up included */
  connector(timeout: number): buildConnector.connector {
    // rejectUnauthorized is given, so that NODE_TLS_REJECT_UNAUTHORIZED does not reach sign-in.
    const options = { timeout, rejectUnauthorized: true, allowH2: false } as const
    const anywhere = buildConnector({ ...options, lookup: this.#lookup(() => false) })
    const outside = buildConnector({ ...options, lookup: this.#lookup(isInnerAddress) })
    return (place, callback) => {
      const connect = this.#configured.has(hostAndPort(place)) ? anywhere : outside
      connect(place, callback)
    }
  }

  #lookup(isRefused: (address: string) => boolean): LookupFunction {
    const permitted = callbackify((name: string) => this.#permitted(name, isRefused))
    return (hostname, { all }, callback) =>
      permitted(hostname, (cause, found = []) => {
        const [first] = found
        if (cause !== null || all === true || first === undefined) callback(cause, [...found])
        else callback(null, first.address, first.family)
      })
  }

  /** One refused address among several is enough. */
  async #permitted(name: string, isRefused: (address: string) => boolean): Promise<readonly LookupAddress[]> {
    const found = await this.#names.lookup(name)
    if (found.some(({ address }) => isRefused(address)))
      throw innerTrouble('an endpoint of the provider', name)
    return found
  }
}

function hostAndPort({ protocol, hostname, port }: Place): string {
  return `${bare(hostname)}:${port || (protocol === 'http:' ? '80' : '443')}`
}

/** undici and sockets write IPv6 addresses without brackets. */
function bare(hostname: string): string {
  return hostname.replace(/[[\]]/g, '')
}

function innerTrouble(what: string, host: string): ProviderError {
  return new ProviderError(
    `${what} is at ${cleanedName(host)}, an inner address that is neither the issuer's nor in endpoint_hosts`,
  )
}
