/**
 * The HTTP proxy by which identity providers and other issuers are asked, as the environment names it: `HTTPS_PROXY` and
 * `NO_PROXY`, in lower case too. `HTTP_PROXY` has no use: plain http is for loopback alone. No specification describes these
 * variables: the meaning is curl's (https://everything.curl.dev/usingcurl/proxies/env.html), and as in Go
 * (net/http.ProxyFromEnvironment), loopback is asked directly. Nothing else is asked by a proxy.
 */

import { BlockList, isIP } from 'node:net'
import { isLoopback } from './addresses.ts'
import { type Environment, setVariable } from './environment.ts'
import type { Fault } from './faults.ts'
import type { SettingSource } from './section.ts'

/** A proxy that opens connections by CONNECT (RFC 9110, section 9.3.6). */
export interface ProviderProxy {
  /** The variable that names it. */
  readonly variable: string
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** TLS to the proxy itself. */
  readonly tls: boolean
  /** The value of `Proxy-Authorization`, a secret; null: the URL has no user. */
  readonly authorization: string | null
}

export interface ProviderProxies {
  /** For https:// addresses; null: they are asked directly. */
  readonly https: ProviderProxy | null
  /** Hosts that are asked directly, as `NO_PROXY` has them. */
  readonly except: readonly string[]
}

export const NO_PROXIES: ProviderProxies = Object.freeze({ https: null, except: [] })

/**
 * No message contains a value.
 *
 * @param env as the gateway sees it, `.env` included
 * @param issuers of the configuration; without one the variables are not read
 */
export function readProviderProxies(
  env: Environment,
  issuers: readonly Pick<SettingSource, 'key' | 'place'>[],
): { readonly proxies: ProviderProxies; readonly faults: readonly Fault[] } {
  const [first] = issuers
  if (first === undefined) return { proxies: NO_PROXIES, faults: [] }
  const faults: Fault[] = []
  const read = (name: string) => {
    const found = variable(env, name)
    if (found === null) return null
    const proxy = proxyOf(found.name, found.value)
    if (typeof proxy !== 'string') return proxy
    const advice = `Correct the environment variable ${found.name}, or unset it`
    faults.push({ place: first.place, message: `${first.key}: ${found.name} ${proxy}. ${advice}.` })
    return null
  }
  const excepted = variable(env, 'NO_PROXY')?.value.toLowerCase() ?? ''
  const proxies = {
    https: read('HTTPS_PROXY'),
    except: Object.freeze(excepted.split(/[\s,]+/).filter((each) => each !== '')),
  }
  return { proxies: Object.freeze(proxies), faults }
}

/** The lower-case name first, as in curl. An empty variable counts as unset. */
function variable(env: Environment, name: string): { name: string; value: string } | null {
  for (const each of [name.toLowerCase(), name]) {
    const value = setVariable(env, each)
    if (value !== null) return { name: each, value }
  }
  return null
}

const FORM = 'is not http://host:port or https://host:port, perhaps with user:password@ before the host'

/** @returns a text that says what is wrong, without the value */
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

/** RFC 7617. @returns undefined for credentials that cannot be sent */
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

/** Without credentials: `http://proxy.example:3128`. */
export function proxyUrl({ host, port, tls }: ProviderProxy): string {
  return `${tls ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

/** The proxy as messages have it, without credentials. */
export function proxyText(proxy: ProviderProxy): string {
  return `the proxy ${proxyUrl(proxy)} of ${proxy.variable}`
}

/** Null: the endpoint is asked directly, as each on this machine is: a proxy would ask its own. */
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

/** An entry of NO_PROXY: `*`, a domain with all that is below it, an address, a block of addresses; perhaps with a port. */
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

/** `[::1]:8443`, `host:8443`; an address of IPv6 without brackets has no port. */
function splitPort(entry: string): [name: string, port: number | null] {
  const found = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry)
  if (found === null) return [entry, null]
  const [, bracketed, plain = '', port] = found
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
