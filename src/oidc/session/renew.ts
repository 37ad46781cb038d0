/**
 * Maps the Seats of a browser's session afresh when they have become too old to count. Called by authentication, on the
 * request path, once in a token's lifetime for each session.
 *
 * One request asks the provider, on one instance: the others of this process wait for it, and other instances wait for
 * what it writes into the store. A provider that can't be asked makes the session 503, never good and never over.
 */

import { LRUCache } from 'lru-cache'
import type { Refusal } from '../../model/errors.ts'
import { type ProviderQuery, queryProvider } from './query-provider.ts'
import { type Context, refusalOf } from '../context.ts'
import { endSession } from './end-session.ts'
import type { Provider } from '../provider/provider.ts'
import { sessionEnded, sessionExpired } from './session-refusals.ts'
import type { SessionRecord, StoredSession } from '../../../seats-admin/index.ts'
import { providerUnavailable } from '../provider/provider-error.ts'

/** ms that one instance has for asking; longer than all requests to the provider together take. */
const CLAIM = 20_000
/** ms that another waits for it. */
const PATIENCE = 6_000
const POLL = 100
/** ms that nobody here asks again after it failed. */
const BACKOFF = 2_000

export class Renewals {
  readonly #context: Context
  readonly #pending = new Map<string, Promise<SessionRecord | Refusal>>()
  /** Sessions whose provider could not be asked, until when (ms since the epoch). */
  readonly #failed = new LRUCache<string, number>({ max: 10_000 })

  constructor(context: Context) {
    this.#context = context
  }

  /** Rejects when the store can't be asked. */
  renew(tenant: string, id: string): Promise<SessionRecord | Refusal> {
    const provider = this.#context.providers.get(tenant)
    if (provider === undefined) return Promise.resolve(sessionEnded)
    const key = `${tenant}.${id}`
    if ((this.#failed.get(key) ?? 0) > this.#context.now()) return Promise.resolve(providerUnavailable)
    const pending = this.#pending.get(key) ?? this.#begin(key, provider, id)
    this.#pending.set(key, pending)
    return pending
  }

  async #begin(key: string, provider: Provider, id: string): Promise<SessionRecord | Refusal> {
    try {
      const outcome = await this.#claimed(provider, id)
      if (outcome === providerUnavailable) this.#failed.set(key, this.#context.now() + BACKOFF)
      return outcome
    } finally {
      this.#pending.delete(key)
    }
  }

  /** Asks, or waits for who does. */
  async #claimed(provider: Provider, id: string): Promise<SessionRecord | Refusal> {
    const { sessions, now } = this.#context
    const tenant = provider.tenant.id
    for (let waited = 0; waited < PATIENCE; waited += POLL) {
      const session = await sessions.sessionById(tenant, id)
      if (session === null || session.endedAt !== null) return sessionEnded
      if (!(now() < session.expiresAt)) return sessionExpired
      if (now() < session.renewAt) return session
      const claimed = await sessions.claimRenewal(tenant, id, now(), now() + CLAIM)
      // Read again with the claim: before that, another may have used the provider's refresh token.
      if (claimed !== null) return now() < claimed.renewAt ? claimed : this.#ask(provider, claimed)
      await new Promise((resolve) => setTimeout(resolve, POLL))
    }
    return providerUnavailable
  }

  async #ask(provider: Provider, session: StoredSession): Promise<SessionRecord | Refusal> {
    const { sessions, log } = this.#context
    const { tenant, id } = session
    const asked = await queryProvider(this.#context, provider, session)
    switch (asked.outcome) {
      case 'trouble':
        await sessions.giveBack(tenant, id, null, null, asked.sealed)
        return refusalOf(this.#context, provider, asked.cause)
      case 'refused':
        await endSession(this.#context, tenant, id)
        log.info(
          { event: 'session_ended', tenant, session: id, reason: asked.reason },
          'the identity provider ended a session',
        )
        return asked.refusal
      case 'renewed':
        return this.#write(session, asked)
    }
  }

  async #write(session: StoredSession, { renewal }: Extract<ProviderQuery, { outcome: 'renewed' }>) {
    const committed = await this.#context.sessions.renew(session.tenant, session.id, null, renewal)
    if (committed === null) return sessionEnded
    await this.#context.announce(committed)
    return { ...session, ...renewal }
  }
}
