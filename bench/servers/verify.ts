/**
 * A typical token check in front of a service: jose, a cache of verified tokens, and the permission of a
 * Seat.
 */

import { jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Rules } from '../peers/node-program.ts'

/** Number of cached tokens, the same as in Seatgate. */
const MOST = 10_000

export interface Caller {
  readonly user: string
  /** Seconds since the epoch. */
  readonly expires: number
  /** Entries `{space}:{seat}`. */
  readonly entries: readonly string[]
}

/** The answer about a request. */
export interface Verdict {
  readonly status: 200 | 401 | 403
  readonly user: string
}

const unknown: Verdict = { status: 401, user: '' }

export class Verifier {
  readonly #rules: Rules
  readonly #secret: Uint8Array
  readonly #callers = new LRUCache<string, Caller>({ max: MOST })

  constructor(rules: Rules) {
    this.#rules = rules
    this.#secret = Buffer.from(rules.secret)
  }

  /** Returns the verdict, or a promise of it if the token is not cached. */
  check(authorization: string | undefined): Verdict | Promise<Verdict> {
    if (authorization?.startsWith('Bearer ') !== true) return unknown
    const token = authorization.slice(7)
    const caller = this.#callers.get(token)
    return caller === undefined ? this.#verify(token) : this.#decide(caller)
  }

  async #verify(token: string): Promise<Verdict> {
    try {
      const { payload } = await jwtVerify(token, this.#secret, { algorithms: ['HS256'] })
      const { sub: user = '', exp: expires = 0, tenant_id: tenant, hash_perm: entries } = payload
      if (tenant !== this.#rules.tenant || !Array.isArray(entries)) return unknown
      const caller = { user, expires, entries }
      this.#callers.set(token, caller)
      return this.#decide(caller)
    } catch {
      return unknown
    }
  }

  #decide({ user, expires, entries }: Caller): Verdict {
    if (expires * 1000 <= Date.now()) return unknown
    const { space, permission, permissions } = this.#rules
    const grants = (entry: string) =>
      entry.startsWith(`${space}:`) && permissions[entry.slice(space.length + 1)]?.includes(permission)
    return { status: entries.some(grants) ? 200 : 403, user }
  }
}
