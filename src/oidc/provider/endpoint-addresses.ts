/**
 * Restricts the addresses of a provider's endpoints against SSRF. The operator configures the issuer's host
 * and port and `endpoint_hosts`; these may have inner addresses. The discovery document chooses all other
 * hosts, which must not have inner addresses. The check applies to the address of the connection, so DNS
 * rebinding does not bypass it.
 *
 * A proxy looks up names itself, without this check. So only the configured hosts are reached by a proxy.
 */

import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import type { OidcConfig } from '../../config/config.ts'
import { NO_PROXIES, type ProviderProxies, proxyFor, proxyText } from '../../config/provider-proxies.ts'
import { openTunnel } from './proxy-tunnel.ts'
import { sanitizeName } from './log-text.ts'
import { isInnerAddress } from './inner-address.ts'
import { isLocalhost, type NameLookup } from './name-lookup.ts'
import { ProviderError } from './provider-errors.ts'

/** The place of a provider, as the operator configures it. */
export interface ProviderPlace extends Pick<OidcConfig, 'issuer' | 'endpointHosts'> {
  /** The setting that allows an endpoint at an inner address; left out: `endpoint_hosts`. */
  readonly setting?: string
}

const tunnel = callbackify(openTunnel)

type Endpoint = Pick<URL, 'protocol' | 'hostname' | 'port'>

export class EndpointAddresses {
  readonly #names: NameLookup
  /** The configured endpoints as `host:port`. */
  readonly #configured: ReadonlySet<string>
  readonly #setting: string
  readonly #proxies: ProviderProxies

  constructor(
    { issuer, endpointHosts, setting = 'endpoint_hosts' }: ProviderPlace,
    names: NameLookup,
    proxies: ProviderProxies = NO_PROXIES,
  ) {
    this.#names = names
    this.#proxies = proxies
    this.#setting = setting
    const own = URL.parse(issuer)
    this.#configured = new Set([
      ...endpointHosts.map(withoutBrackets),
      ...(own === null ? [] : [hostAndPort(own)]),
    ])
  }

  /**
   * Checks the host as written; `connector` checks the addresses of a name. The fault of an inner address;
   * null: the URL is allowed.
   */
  addressFault(url: string, what: string): ProviderError | null {
    const endpoint = URL.parse(url)
    if (endpoint === null || this.#configured.has(hostAndPort(endpoint))) return null
    const host = withoutBrackets(endpoint.hostname)
    const inner = isIP(host) === 0 ? isLocalhost(host) : isInnerAddress(host)
    return inner ? this.#innerAddress(what, hostAndPort(endpoint)) : null
  }

  /** The fault of a URL that only a proxy reaches and that is not configured; null: it is allowed. */
  proxyFault(url: string, what: string): ProviderError | null {
    const endpoint = URL.parse(url)
    if (endpoint === null || this.#configured.has(hostAndPort(endpoint))) return null
    const proxy = proxyFor(endpoint, this.#proxies)
    if (proxy === null) return null
    const host = sanitizeName(hostAndPort(endpoint))
    return new ProviderError(
      `${what} is at ${host}, which ${proxyText(proxy)} would look up, so that no check of its address is possible: allow it by ${this.#setting}, or name it in NO_PROXY`,
    )
  }

  /**
   * The connector for undici's Agent.
   *
   * @param timeout ms for look-up, TCP connect and TLS handshake
   */
  connector(timeout: number): buildConnector.connector {
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED does not apply. An authority of
    // NODE_EXTRA_CA_CERTS is trusted by itself, though another one has issued it.
    const trust = { rejectUnauthorized: true, allowPartialTrustChain: true } as const
    const options = { timeout, ...trust, allowH2: false } as const
    const anyAddress = this.#lookup(() => false)
    const unrestricted = buildConnector({ ...options, lookup: anyAddress })
    const globalOnly = buildConnector({ ...options, lookup: this.#lookup(isInnerAddress) })
    return (endpoint, callback) => {
      const proxy = proxyFor(endpoint, this.#proxies)
      if (proxy === null) {
        const isConfigured = this.#configured.has(hostAndPort(endpoint))
        return (isConfigured ? unrestricted : globalOnly)(endpoint, callback)
      }
      const { protocol } = endpoint
      const fault = this.proxyFault(`${protocol}//${authorityOf(endpoint)}`, 'an endpoint of the provider')
      if (fault !== null) return callback(fault, null)
      tunnel(proxy, authorityOf(endpoint), { timeout, lookup: anyAddress }, (cause, httpSocket) => {
        if (cause !== null) callback(cause, null)
        else if (protocol === 'https:') unrestricted({ ...endpoint, httpSocket }, callback)
        else callback(null, httpSocket)
      })
    }
  }

  #lookup(isRefused: (address: string) => boolean): LookupFunction {
    const permittedAddresses = callbackify((name: string) => this.#permittedAddresses(name, isRefused))
    return (hostname, { all }, callback) =>
      permittedAddresses(hostname, (cause, addresses = []) => {
        const [first] = addresses
        if (cause !== null || all === true || first === undefined) callback(cause, [...addresses])
        else callback(null, first.address, first.family)
      })
  }

  /** A single refused address refuses the name. */
  async #permittedAddresses(
    name: string,
    isRefused: (address: string) => boolean,
  ): Promise<readonly LookupAddress[]> {
    const addresses = await this.#names.lookup(name)
    if (addresses.some(({ address }) => isRefused(address)))
      throw this.#innerAddress('an endpoint of the provider', name)
    return addresses
  }

  #innerAddress(what: string, host: string): ProviderError {
    return new ProviderError(
      `${what} is at ${sanitizeName(host)}, an inner address that is neither the issuer's nor in ${this.#setting}`,
    )
  }
}

/** `host:port` as CONNECT has it. */
function authorityOf(endpoint: Endpoint): string {
  const host = withoutBrackets(endpoint.hostname)
  return isIP(host) === 6 ? hostAndPort(endpoint).replace(host, `[${host}]`) : hostAndPort(endpoint)
}

function hostAndPort({ protocol, hostname, port }: Endpoint): string {
  return `${withoutBrackets(hostname)}:${port || (protocol === 'http:' ? '80' : '443')}`
}

/** undici and sockets write IPv6 addresses without brackets. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/[[\]]/g, '')
}
