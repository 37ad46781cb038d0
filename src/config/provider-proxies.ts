/**
 * The HTTP proxy for requests to identity providers and other issuers: the environment variables
 * `HTTPS_PROXY` and `NO_PROXY`, also in lower case. No other request uses a proxy. `HTTP_PROXY` is not read,
 * because plain http is for loopback only. No specification describes these variables: their meaning is that
 * of curl (https://everything.curl.dev/usingcurl/proxies/env.html). As in Go (net/http.ProxyFromEnvironment),
 * requests to loopback addresses use no proxy.
 */

import { BlockList, isIP } from 'node:net'
import { isLoopback } from './addresses.ts'
import { type Environment, setVariable } from './environment.ts'
import type { Fault } from './faults.ts'
import type { SettingSource } from './section.ts'

/** A proxy that opens connections with CONNECT (RFC 9110, section 9.3.6). */
export interface ProviderProxy {
  /** The variable that names the proxy. */
  readonly variable: string
  /** The host name or the address, without brackets. */
  readonly host: string
  readonly port: number
  /** Whether the connection to the proxy uses TLS. */
  readonly tls: boolean
  /** The value of `Proxy-Authorization`, a secret; null: the URL has no user. */
  readonly authorization: string | null
}

export interface ProviderProxies {
  /** The proxy for https URLs; null: there is none. */
  readonly https: ProviderProxy | null
  /** The hosts that are reached without a proxy, in the form of `NO_PROXY`. */
  readonly except: readonly string[]
}

export const NO_PROXIES: ProviderProxies = Object.freeze({ https: null, except: [] })

/**
 * No message contains a value.
 *
 * @param env the variables of the process and of `.env`
 * @param issuers the issuers in the configuration. Without an issuer, the variables are not read.
 */
export function readProviderProxies(
  env: Environment,
  issuers: readonly Pick<SettingSource, 'key' | 'place'>[],
): { readonly proxies: ProviderProxies; readonly faults: readonly Fault[] } {
  const [first] = issuers
  if (first === undefined) return { proxies: NO_PROXIES, faults: [] }
  const faults: Fault[] = []
  const read = (name: string) => {
    const proxyVariable = variable(env, name)
    if (proxyVariable === null) return null
    const proxy = proxyOf(proxyVariable.name, proxyVariable.value)
    if (typeof proxy !== 'string') return proxy
    const advice = `Correct the environment variable ${proxyVariable.name}, or unset it`
    faults.push({ place: first.place, message: `${first.key}: ${proxyVariable.name} ${proxy}. ${advice}.` })
    return null
  }
  const excepted = variable(env, 'NO_PROXY')?.value.toLowerCase() ?? ''
  const proxies = {
    https: read('HTTPS_PROXY'),
    except: Object.freeze(excepted.split(/[\s,]+/).filter((each) => each !== '')),
  }
  return { proxies: Object.freeze(proxies), faults }
}

/**
 * The variable with the lower-case name, or else with the upper-case one, as in curl. An empty variable
 * counts as unset.
 */
function variable(env: Environment, name: string): { name: string; value: string } | null {
  for (const each of [name.toLowerCase(), name]) {
    const value = setVariable(env, each)
    if (value !== null) return { name: each, value }
  }
  return null
}

const FORM = 'is not http://host:port or https://host:port, perhaps with user:password@ before the host'

/** @returns for an invalid value, the fault as a text without the value */
function proxyOf(variable: string, value: string): ProviderProxy | string {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return FORM
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return `${FORM}: special characters of user and password must be percent-encoded`
  const tls = url.protocol === 'https:'
  const authorization = authorizationOf(url)
  if (authorization === undefined)
    return 'has a user name or password that cannot be sent: special characters must be percent-encoded, and a user name has no colon'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = Number(url.port || (tls ? 443 : 80))
  return Object.freeze({ variable, host, port, tls, authorization })
}

/**
 * The value of `Proxy-Authorization` (RFC 7617).
 *
 * @returns null without credentials; undefined for credentials that cannot be sent
 */
function authorizationOf({ username, password }: URL): string | null | undefined {
  if (username === '' && password === '') return null
  try {
    const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
    // oxlint-disable-next-line no-control-regex -- RFC 7617, section 2: no control characters
    if (user.includes(':') || /[\u0000-\u001f\u007f]/.test(user + secret)) return undefined
    return `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
  } catch {
    return undefined
  }
}

/** The URL without credentials: `http://proxy.example:3128`. */
export function proxyUrl({ host, port, tls }: ProviderProxy): string {
  return `${tls ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

/** The proxy in messages, without credentials. */
export function proxyText(proxy: ProviderProxy): string {
  return `the proxy ${proxyUrl(proxy)} of ${proxy.variable}`
}

/**
 * The proxy for an endpoint; null: none. A loopback address uses none: to a proxy, it would mean the proxy's
 * own machine.
 */
export function proxyFor(
  { protocol, hostname, port }: Pick<URL, 'protocol' | 'hostname' | 'port'>,
  { https, except }: ProviderProxies,
): ProviderProxy | null {
  if (https === null || protocol !== 'https:') return null
  const host = hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
  const isDirect = isLoopback(host) || except.some((entry) => covers(entry, host, Number(port || 443)))
  return isDirect ? null : https
}

/**
 * Whether an entry of NO_PROXY covers a host. It is `*`, a domain with its subdomains, an address or a block,
 * perhaps with a port.
 */
function covers(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true
  const [name, of] = splitPort(entry)
  if (of !== null && of !== port) return false
  const kind = isIP(host)
  if (name.includes('/')) return kind !== 0 && isInBlock(host, kind, name)
  const bare = name.replace(/^\*?\./, '').replace(/\.$/, '')
  if (kind !== 0) return isIP(bare) === kind && isInBlock(host, kind, bare)
  return bare !== '' && (host === bare || host.endsWith(`.${bare}`))
}

/** Splits `[::1]:8443` or `host:8443`. An IPv6 address without brackets has no port. */
function splitPort(entry: string): [name: string, port: number | null] {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry)
  if (match === null) return [entry, null]
  const [, bracketed, plain = '', port] = match
  return [bracketed ?? plain, port === undefined ? null : Number(port)]
}

/** @param block `10.0.0.0/8`, or one address */
function isInBlock(host: string, kind: number, block: string): boolean {
  const [network = '', prefix] = block.split('/')
  if (isIP(network) !== kind) return false
  const family = kind === 6 ? 'ipv6' : 'ipv4'
  const most = kind === 6 ? 128 : 32
  const length = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : most + 1
  if (length > most) return false
  const list = new BlockList()
  list.addSubnet(network, length, family)
  return list.check(host, family)
}
