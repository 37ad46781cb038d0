/**
 * Name look-ups for one tenant's provider, without getaddrinfo: libuv runs only two getaddrinfo calls at
 * once, and a name server that does not respond blocks them for many seconds, for all tenants, the store and
 * Redis.
 *
 * Order: `localhost` and its subdomains are loopback (RFC 6761); then `/etc/hosts`; then DNS, with the name
 * servers and the search list of `/etc/resolv.conf`. The resolver (c-ares) itself reads only the name
 * servers. Other sources of nsswitch.conf (mDNS, NIS) are not used.
 */

import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NameLimits } from '../../config/provider-limits.ts'
import { codeOf, ProviderError } from './provider-errors.ts'

const TRIES = 2
/** ms. RFC 8305, section 3, recommends 50 ms; name servers may be far. */
const RESOLUTION_DELAY = 250
/** After these codes the next name of the search list is tried, as in glibc. */
const NOT_FOUND = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL'])

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** RFC 6761, section 6.3. */
export function isLocalhost(name: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(name)
}

export class NameLookup {
  readonly #limits: NameLimits
  /** The look-ups in flight by name: concurrent connections share one. */
  readonly #inFlight = new Map<string, Promise<readonly LookupAddress[]>>()

  constructor(limits: NameLimits = {}) {
    this.#limits = limits
  }

  /** At least one address, IPv4 first. Rejects with a `code` of `node:dns`, or with ProviderError. */
  lookup(text: string): Promise<readonly LookupAddress[]> {
    const name = text.toLowerCase()
    if (isLocalhost(name)) return Promise.resolve(LOOPBACK)
    const { maxInFlight = 8 } = this.#limits
    const pending = this.#inFlight.get(name)
    if (pending !== undefined) return pending
    if (this.#inFlight.size >= maxInFlight)
      return Promise.reject(new ProviderError("too many look-ups of the provider's host names are pending"))
    const lookup = this.#withinTime(name).finally(() => this.#inFlight.delete(name))
    this.#inFlight.set(name, lookup)
    return lookup
  }

  async #withinTime(name: string): Promise<readonly LookupAddress[]> {
    const { total = 2_500, timeout = 700, servers } = this.#limits
    // A new resolver reads resolv.conf again, and its cancellation affects no other look-up.
    const resolver = new Resolver({ timeout, tries: TRIES, maxTimeout: 2 * timeout })
    if (servers !== undefined) resolver.setServers(servers)
    const expired = new AbortController()
    const timedOut = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      expired.abort()
      timedOut.reject(Object.assign(new Error('the name look-up timed out'), { code: 'ETIMEOUT' }))
    }, total)
    try {
      return await Promise.race([this.#search(name, resolver, expired.signal), timedOut.promise])
    } finally {
      clearTimeout(timer)
      // Also cancels the pending query of the other family.
      resolver.cancel()
    }
  }

  async #search(name: string, resolver: Resolver, expired: AbortSignal): Promise<readonly LookupAddress[]> {
    const { hostsFile = '/etc/hosts', resolvFile = '/etc/resolv.conf' } = this.#limits
    const { resolutionDelay = RESOLUTION_DELAY } = this.#limits
    const inHosts = await addressesInHosts(hostsFile, name.replace(/\.$/, ''))
    if (inHosts.length > 0) return inHosts
    let failure: unknown
    for (const candidate of candidates(name, await searchSettings(resolvFile))) {
      expired.throwIfAborted()
      try {
        return await resolveBoth(resolver, candidate, resolutionDelay)
      } catch (cause) {
        if (!NOT_FOUND.has(codeOf(cause))) throw cause
        failure = cause
      }
    }
    throw failure
  }
}

type FamilyResult = LookupAddress[] | { readonly cause: unknown }

async function resolveBoth(resolver: Resolver, name: string, delay: number): Promise<LookupAddress[]> {
  const queries = [
    resolver.resolve4(name).then((addresses) => addresses.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(name).then((addresses) => addresses.map((address) => ({ address, family: 6 }))),
  ]
  const all = Promise.all(queries.map((query) => query.catch((cause: unknown): FamilyResult => ({ cause }))))
  const one = Promise.any(queries).then(
    (first): Promise<FamilyResult[]> =>
      Promise.race([all, sleep(delay, [first] as FamilyResult[], { ref: false })]),
    () => all,
  )
  return addressesOf(await one)
}

/** @throws when there is no address; a name server's failure takes precedence over a negative response */
function addressesOf(results: readonly FamilyResult[]): LookupAddress[] {
  const addresses = results.flatMap((result) => ('cause' in result ? [] : result))
  if (addresses.length > 0) return addresses
  const causes = results.flatMap((result) => ('cause' in result ? [result.cause] : []))
  throw causes.find((cause) => !NOT_FOUND.has(codeOf(cause))) ?? causes[0]
}

/** Read at each look-up, because container runtimes rewrite the files. A missing file counts as empty. */
async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n')
}

/** @param name in lower case, without a trailing dot */
async function addressesInHosts(file: string, name: string): Promise<LookupAddress[]> {
  const addresses: LookupAddress[] = []
  for (const line of await linesOf(file)) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family !== 0 && names.some((each) => each.toLowerCase() === name)) addresses.push({ address, family })
  }
  return addresses
}

/** resolv.conf(5). */
interface SearchSettings {
  readonly search: readonly string[]
  /** A name with at least this many dots is tried as it is before the search list. */
  readonly ndots: number
}

const MAX_SEARCH = 32
const MAX_NDOTS = 15

async function searchSettings(file: string): Promise<SearchSettings> {
  let search: string[] = []
  let ndots = 1
  for (const line of await linesOf(file)) {
    const [keyword = '', ...words] = line.trim().split(/\s+/)
    // The last line applies.
    if (keyword === 'search' || keyword === 'domain') search = words.slice(0, MAX_SEARCH)
    if (keyword === 'options')
      for (const word of words) ndots = Number(/^ndots:(\d{1,3})$/.exec(word)?.[1] ?? ndots)
  }
  const domains = search.map((domain) => domain.replace(/^\.+|\.+$/g, '')).filter((domain) => domain !== '')
  return { search: domains, ndots: Math.min(ndots, MAX_NDOTS) }
}

/** The names to query, in order. */
function candidates(name: string, { search, ndots }: SearchSettings): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const dots = name.split('.').length - 1
  const searched = search.map((domain) => `${name}.${domain}`)
  return dots >= ndots ? [name, ...searched] : [...searched, name]
}
