/**
 * Maps the Seats of a browser's session again when they are older than the token lifetime, on the request
 * path.
 *
 * One request of one instance queries the provider. Other requests of this process wait for it; other
 * instances wait for its write to the store. While the provider is unavailable, requests with the session get
 * 503: the session neither counts nor ends.
 */

import { performance } from 'node:perf_hooks'
import { LruBudget, LruMap } from '../../lib/lru-maps.ts'
import { Refusal } from '../../model/errors.ts'
import { type Failed, queryProvider, type Renewed } from './query-provider.ts'
import { about, type Context, providerRefusal } from '../context.ts'
import type { Provider } from '../provider/provider.ts'
import { sessionEnded, sessionExpired } from './session-authentication.ts'
import type { SessionRecord, StoredSession } from '../../../seats-admin/index.ts'
import { providerUnavailable } from '../provider/provider-errors.ts'

/**
 * ms of the claim of an instance, longer than any renewal. The provider takes at most 51 s: discovery 10 with
 * its redirect, tokens 5, keys twice 15 and a second between, userinfo 5. The store takes at most 30 s: three
 * calls of 2, and two numbered writes of 12, which wait for a file of Seats. After a claim that ends too
 * early, two instances use one refresh token of the provider, which may end the session of the user there.
 */
const CLAIM = 90_000
/** ms that other instances wait for the claim holder. */
const WAIT = 6_000
/** ms between reads while waiting. */
const POLL = 100
/** ms without a new query of this process after a failure. */
const BACKOFF = 2_000
/** The most sessions whose failure is remembered. */
const MAX_FAILED = 10_000

/** The provider and the time, so that a simulation can control them. */
export interface RenewalPorts {
  readonly query: (
    ...parts: Parameters<typeof queryProvider>
  ) => Promise<Pick<Renewed, 'renewal'> | Failed | Refusal>
  /** Monotonic ms. */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<unknown>
}

const PORTS: RenewalPorts = {
  query: queryProvider,
  now: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

export class Renewals {
  readonly #ports: RenewalPorts
  readonly #pending = new Map<string, Promise<SessionRecord | Refusal>>()
  /** The end of the backoff by session, monotonic ms: the wall clock may be set back. */
  readonly #failed = new LruMap<number>(new LruBudget(MAX_FAILED), () => 1)

  constructor(ports = PORTS) {
    this.#ports = ports
  }

  /**
   * Requests that need the same renewal share the one of the first. Rejects if the store is unavailable.
   */
  renew(context: Context, tenant: string, id: string): Promise<SessionRecord | Refusal> {
    const provider = context.providers.get(tenant)
    if (provider === undefined) return Promise.resolve(sessionEnded(null))
    const key = `${tenant}.${id}`
    if ((this.#failed.get(tenant, id)?.value ?? 0) > this.#ports.now())
      return Promise.resolve(providerUnavailable)
    const pending = this.#pending.get(key) ?? this.#begin(context, key, provider, id)
    this.#pending.set(key, pending)
    return pending
  }

  async #begin(
    context: Context,
    key: string,
    provider: Provider,
    id: string,
  ): Promise<SessionRecord | Refusal> {
    try {
      const outcome = await claimAndRenew(this.#ports, context, provider, id)
      if (outcome === providerUnavailable)
        this.#failed.set(provider.tenant.id, id, this.#ports.now() + BACKOFF)
      return outcome
    } finally {
      this.#pending.delete(key)
    }
  }
}

/** Claims the renewal, or waits for the claim holder. */
async function claimAndRenew(
  ports: RenewalPorts,
  context: Context,
  provider: Provider,
  id: string,
): Promise<SessionRecord | Refusal> {
  const { sessions, now } = context
  const tenant = provider.tenant.id
  for (let waited = 0; waited < WAIT; waited += POLL) {
    const session = await sessions.sessionById(tenant, id)
    if (session === null || session.endedAt !== null) return sessionEnded(session)
    if (!(now() < session.expiresAt)) return sessionExpired
    if (now() < session.renewAt) return session
    // The claim returns the current row: another instance may have used the provider's refresh token before.
    const claimed = await sessions.claimRenewal(tenant, id, now(), now() + CLAIM)
    if (claimed !== null) {
      if (now() < claimed.renewAt) return claimed
      const renewed = await renewFromProvider(ports, context, provider, claimed)
      if (renewed !== null) return renewed
    }
    await ports.wait(POLL)
  }
  return providerUnavailable
}

/** @returns null if the provider was asked before its claims changed */
async function renewFromProvider(
  { query }: RenewalPorts,
  ofRequest: Context,
  provider: Provider,
  session: StoredSession,
): Promise<SessionRecord | Refusal | null> {
  const { tenant, id, user } = session
  const context = about(ofRequest, { user, session: id })
  const { sessions, announce } = context
  const result = await query(context, provider, session)
  if (result instanceof Refusal) return result
  if ('cause' in result) {
    await sessions.giveBack(tenant, id, null, null, result.sealed)
    return providerRefusal(context, provider, result.cause)
  }
  const committed = await sessions.renew(tenant, id, null, result.renewal)
  // A logout, an administrator or a revocation ended the session during the provider's query.
  if (committed === null) {
    const current = await sessions.sessionById(tenant, id)
    if (current === null || current.endedAt !== null) return sessionEnded(current)
    await sessions.giveBack(tenant, id, null, null, result.renewal.sealed)
    return null
  }
  await announce(committed)
  return { ...session, ...result.renewal }
}
