/**
 * Name look-ups for one tenant's provider, without getaddrinfo: libuv runs only two getaddrinfo calls at once, and a name
 * server that does not respond blocks them for many seconds, for all tenants, the store and Redis.
 *
 * Order: `localhost` and its subdomains are loopback (RFC 6761); then `/etc/hosts`; then DNS, with the name servers and
 * the search list of `/etc/resolv.conf`. Other sources of nsswitch.conf (mDNS, NIS) are not used.
 */

import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressesInHosts, candidates, searchSettings } from './resolver-files.ts'
import { codeOf, ProviderError } from './errors.ts'

export interface NameLimits {
  /** ms of a whole look-up. */
  readonly total?: number
  /** ms until a query is repeated; the second query waits twice as long. */
  readonly timeout?: number
  /** Concurrent look-ups of different names. */
  readonly maxInFlight?: number
  /** Name servers such as `127.0.0.1:53`. Default: the system's. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  readonly resolvFile?: string
}

const TRIES = 2
/** ms that one family's result waits for the other's. RFC 8305, section 3, recommends 50 ms; name servers may be far. */
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
  /** By name: concurrent connections share a look-up. */
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
    const known = await addressesInHosts(hostsFile, name.replace(/\.$/, ''))
    if (known.length > 0) return known
    let failure: unknown
    for (const candidate of candidates(name, await searchSettings(resolvFile))) {
      expired.throwIfAborted()
      try {
        return await resolveBoth(resolver, candidate)
      } catch (cause) {
        if (!NOT_FOUND.has(codeOf(cause))) throw cause
        failure = cause
      }
    }
    throw failure
  }
}

type FamilyResult = LookupAddress[] | { readonly cause: unknown }

async function resolveBoth(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const queries = [
    resolver.resolve4(name).then((found) => found.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(name).then((found) => found.map((address) => ({ address, family: 6 }))),
  ]
  const all = Promise.all(queries.map((query) => query.catch((cause: unknown): FamilyResult => ({ cause }))))
  const one = Promise.any(queries).then(
    (found): Promise<FamilyResult[]> =>
      Promise.race([all, sleep(RESOLUTION_DELAY, [found] as FamilyResult[], { ref: false })]),
    () => all,
  )
  return addressesOf(await one)
}

/** @throws when there is no address; a name server's failure takes precedence over a negative response */
function addressesOf(results: readonly FamilyResult[]): LookupAddress[] {
  const found = results.flatMap((result) => ('cause' in result ? [] : result))
  if (found.length > 0) return found
  const causes = results.flatMap((result) => ('cause' in result ? [result.cause] : []))
  throw causes.find((cause) => !NOT_FOUND.has(codeOf(cause))) ?? causes[0]
}
