/**
 * Name look-ups for one tenant's provider. Not by getaddrinfo: libuv runs two of those at once for the whole process, and
 * a name server that does not answer holds each for many seconds, and with them the look-ups of all tenants, the store
 * and Redis.
 *
 * The order: `localhost` and names below it are loopback (RFC 6761); then `/etc/hosts`; then DNS, by the name servers and
 * the search list of `/etc/resolv.conf`. There is no falling back to getaddrinfo: other sources of nsswitch.conf (mDNS,
 * NIS) don't count.
 */

import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressesInHosts, candidates, searchSettings } from './resolver-files.ts'
import { codeOf, ProviderError } from './provider-error.ts'

export interface NameLimits {
  /** ms of a look-up, whatever it takes. */
  readonly total?: number
  /** ms until the first question to a name server is repeated; the repetition waits twice as long. */
  readonly timeout?: number
  /** Look-ups at once, each of another name. */
  readonly maxUnderWay?: number
  /** `127.0.0.1:53`. The system's where they are left out. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  readonly resolvFile?: string
}

const TRIES = 2
/** ms that the answer for one family waits for the other's (RFC 8305, section 3, has 50 ms; name servers may be far). */
const RESOLUTION_DELAY = 250
/** The next name of the search list is asked for after these, as glibc does. */
const NEXT = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL'])

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
  /** By name: connections that are opened at once share a look-up. */
  readonly #inFlight = new Map<string, Promise<readonly LookupAddress[]>>()

  constructor(limits: NameLimits = {}) {
    this.#limits = limits
  }

  /** At least one address, IPv4 first. Rejects with a `code` as in `node:dns`, or with ProviderTrouble. */
  lookup(text: string): Promise<readonly LookupAddress[]> {
    const name = text.toLowerCase()
    if (isLocalhost(name)) return Promise.resolve(LOOPBACK)
    const { maxUnderWay = 8 } = this.#limits
    const pending = this.#inFlight.get(name)
    if (pending !== undefined) return pending
    if (this.#inFlight.size >= maxUnderWay)
      return Promise.reject(new ProviderError("too many look-ups of the provider's names wait"))
    const begun = this.#withinTime(name).finally(() => this.#inFlight.delete(name))
    this.#inFlight.set(name, begun)
    return begun
  }

  async #withinTime(name: string): Promise<readonly LookupAddress[]> {
    const { total = 2_500, timeout = 700, servers } = this.#limits
    // A new one each time reads resolv.conf again, and is cancelled alone.
    const resolver = new Resolver({ timeout, tries: TRIES, maxTimeout: 2 * timeout })
    if (servers !== undefined) resolver.setServers(servers)
    const late = new AbortController()
    const over = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.abort()
      over.reject(Object.assign(new Error('the look-up of a name takes too long'), { code: 'ETIMEOUT' }))
    }, total)
    try {
      return await Promise.race([this.#search(name, resolver, late.signal), over.promise])
    } finally {
      clearTimeout(timer)
      // Also the other family's question, where nobody waits for its answer any more.
      resolver.cancel()
    }
  }

  async #search(name: string, resolver: Resolver, late: AbortSignal): Promise<readonly LookupAddress[]> {
    const { hostsFile = '/etc/hosts', resolvFile = '/etc/resolv.conf' } = this.#limits
    const known = await addressesInHosts(hostsFile, name.replace(/\.$/, ''))
    if (known.length > 0) return known
    let failure: unknown
    for (const candidate of candidates(name, await searchSettings(resolvFile))) {
      late.throwIfAborted()
      try {
        return await ask(resolver, candidate)
      } catch (cause) {
        if (!NEXT.has(codeOf(cause))) throw cause
        failure = cause
      }
    }
    throw failure
  }
}

type Answer = LookupAddress[] | { readonly cause: unknown }

async function ask(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const queries = [
    resolver.resolve4(name).then((found) => found.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(name).then((found) => found.map((address) => ({ address, family: 6 }))),
  ]
  const all = Promise.all(queries.map((query) => query.catch((cause: unknown): Answer => ({ cause }))))
  const one = Promise.any(queries).then(
    (found): Promise<Answer[]> =>
      Promise.race([all, sleep(RESOLUTION_DELAY, [found] as Answer[], { ref: false })]),
    () => all,
  )
  return addressesOf(await one)
}

/** Rejects where there is none; a failure of the name server is told before an answer that says that there is none. */
function addressesOf(answers: readonly Answer[]): LookupAddress[] {
  const found = answers.flatMap((answer) => ('cause' in answer ? [] : answer))
  if (found.length > 0) return found
  const causes = answers.flatMap((answer) => ('cause' in answer ? [answer.cause] : []))
  throw causes.find((cause) => !NEXT.has(codeOf(cause))) ?? causes[0]
}
