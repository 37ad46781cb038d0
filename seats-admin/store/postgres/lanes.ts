/**
 * The store's connections by kind of work, and the time of each call. Work waits for its own kind only: point reads,
 * what decisions rest on, have connections of their own, and so have listings, writes and the feed. Used by `store.ts`
 * and `registry.ts`.
 */

import { StoreUnavailable } from '../store.ts'
import { type Call, within } from './call.ts'
import type { Connection, Session } from './connection.ts'
import { Pool } from './pool.ts'
import { type Transaction, transact } from './transaction.ts'
import type { Target } from './url.ts'

/** Milliseconds for a reading of the feed: one that takes longer leaves too little of a lease. */
const FOLLOW_TIMEOUT = 500

/** Of a call's time, what may be spent on reaching the server; a second attempt then has its chance. */
const CONNECT_SHARE = 0.5
/** On waiting for a lock: the rest is for the write, and to say what was wrong. */
const LOCK_SHARE = 0.75
/** And for how long a transaction may stand still: others, who wait for it, still come to their turn. */
const IDLE_SHARE = 0.5

export function sessionOf(timeout: number, durable = true): Session {
  return {
    connectTimeout: Math.ceil(timeout * CONNECT_SHARE),
    statementTimeout: timeout,
    lockTimeout: Math.ceil(timeout * LOCK_SHARE),
    idleTimeout: Math.ceil(timeout * IDLE_SHARE),
    durable,
  }
}

export class Lanes {
  readonly reads: Pool
  readonly administration: Pool
  readonly #writes: Pool
  readonly #feed: Pool
  readonly #timeout: number
  #calls = 0
  #closing: PromiseWithResolvers<void> | null = null

  /** @param size connections for reads, and as many for administration, half of which are for writes */
  constructor(target: Target, size: number, timeout: number) {
    this.#timeout = timeout
    const session = sessionOf(timeout)
    const half = Math.max(1, Math.floor(size / 2))
    this.reads = new Pool(target, session, size)
    this.administration = new Pool(target, session, Math.max(1, size - half))
    this.#writes = new Pool(target, session, half)
    this.#feed = new Pool(
      target,
      { ...sessionOf(FOLLOW_TIMEOUT, false), connectTimeout: session.connectTimeout },
      1,
    )
  }

  /** What may be done twice. */
  ask<V>(pool: Pool, work: (connection: Connection) => Promise<V>): Promise<V> {
    return this.#call(this.#timeout, (call) => pool.repeat(call, work))
  }

  write<V>(work: (transaction: Transaction) => Promise<V>): Promise<V> {
    return this.#call(this.#timeout, (call) => transact(this.#writes, call, work))
  }

  follow<V>(work: (connection: Connection) => Promise<V>): Promise<V> {
    return this.#call(FOLLOW_TIMEOUT, (call) => this.#feed.use(call, work))
  }

  /** Calls made before are still answered. Calling it twice is calling it once. */
  async close(): Promise<void> {
    this.#closing ??= Promise.withResolvers()
    this.#settle()
    await this.#closing.promise
    await Promise.all([this.reads, this.administration, this.#writes, this.#feed].map((pool) => pool.close()))
  }

  async #call<V>(timeout: number, work: (call: Call) => Promise<V>): Promise<V> {
    if (this.#closing !== null) throw new StoreUnavailable('the store is closed')
    this.#calls++
    try {
      return await within(timeout, work)
    } finally {
      this.#calls--
      this.#settle()
    }
  }

  #settle(): void {
    if (this.#calls === 0) this.#closing?.resolve()
  }
}
