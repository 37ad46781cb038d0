/**
 * The store's connections by kind of work, and the time of each call. Work waits for its own kind only: point reads,
 * what decisions rest on, have connections of their own, and so have listings, writes, sign-ins and the feed.
 */

import { Health, type Work } from '../health.ts'
import { StoreUnavailable } from '../store.ts'
import { type Call, within } from './call.ts'
import type { Connection, Session } from './connection.ts'
import { Pool } from './pool.ts'
import { type Transaction, transact } from './transaction.ts'
import type { Target } from './url.ts'

/** Of a call's time, what a reading of the feed may take at least: half a second of two. */
const FOLLOW_SHARE = 0.25
/** And how many times as long as the one before. A reading that is lost costs no lease; one of a slow store may take its time. */
const FOLLOW_PATIENCE = 4
/** Of a call's time, what may be spent on reaching the server's machine; a second attempt then has its chance. */
const CONNECT_SHARE = 0.5
/** On waiting for a lock: the rest is for the write, and to say what was wrong. */
const LOCK_SHARE = 0.75
/**
 * And for how long a transaction may stand still. Short, as all writers of a fleet wait for one that was frozen in the
 * midst of its turn; they still come to theirs.
 */
const IDLE_SHARE = 0.2

export function sessionOf(timeout: number): Session {
  return {
    connectTimeout: Math.ceil(timeout * CONNECT_SHARE),
    answerTimeout: timeout,
    statementTimeout: timeout,
    lockTimeout: Math.ceil(timeout * LOCK_SHARE),
    idleTimeout: Math.ceil(timeout * IDLE_SHARE),
    durable: true,
  }
}

export class Lanes {
  readonly health = new Health()
  readonly reads: Pool
  readonly administration: Pool
  /** For writes to sessions that take no turn. */
  readonly signIns: Pool
  readonly #writes: Pool
  readonly #feed: Pool
  readonly #timeout: number
  /** Milliseconds for the next reading of the feed. */
  #followTimeout: number
  #calls = 0
  #closing: PromiseWithResolvers<void> | null = null

  /** @param size connections for reads, as many for administration (half of them for writes), half as many for sign-ins */
  constructor(target: Target, size: number, timeout: number) {
    this.#timeout = timeout
    const session = sessionOf(timeout)
    const half = Math.max(1, Math.floor(size / 2))
    this.reads = new Pool(target, session, size)
    this.administration = new Pool(target, session, Math.max(1, size - half))
    // One: they take turns anyway, and of a process that is frozen no second one comes to its turn and stands still too.
    this.#writes = new Pool(target, session, 1)
    this.signIns = new Pool(target, session, half)
    this.#followTimeout = Math.ceil(timeout * FOLLOW_SHARE)
    this.#feed = new Pool(target, { ...session, durable: false }, 1)
  }

  /** What may be done twice. */
  ask<V>(
    pool: Pool,
    work: (connection: Connection) => Promise<V>,
    timeout: number = this.#timeout,
  ): Promise<V> {
    return this.health.watch(this.#workOf(pool), () => this.askUnwatched(pool, work, timeout))
  }

  /** Says nothing of the store's health, and so is not done again later to find out. */
  askUnwatched<V>(
    pool: Pool,
    work: (connection: Connection) => Promise<V>,
    timeout: number = this.#timeout,
  ): Promise<V> {
    return this.#call(timeout, (call) => pool.repeat(call, work))
  }

  write<V>(work: (transaction: Transaction) => Promise<V>): Promise<V> {
    return this.health.watch('writes', () => {
      return this.#call(this.#timeout, (call) => transact(this.#writes, call, work))
    })
  }

  /** Reaches the server for {@link follow} beside what else is done first. */
  prepareToFollow(): void {
    this.#feed.warm()
  }

  async follow<V>(work: (connection: Connection) => Promise<V>): Promise<V> {
    const timeout = this.#followTimeout
    let took = timeout / 2
    try {
      return await this.#call(timeout, async (call) => {
        const found = await this.#feed.use(call, work)
        took = call.waited
        return found
      })
    } finally {
      // One that failed doubles it, up to a call's whole time.
      const next = Math.max(this.#timeout * FOLLOW_SHARE, FOLLOW_PATIENCE * took)
      this.#followTimeout = Math.ceil(Math.min(this.#timeout, next))
    }
  }

  #workOf(pool: Pool): Work {
    if (pool === this.reads) return 'reads'
    return pool === this.signIns ? 'writes' : 'lists'
  }

  /** Calls made before are still answered. Calling it twice is calling it once. */
  async close(): Promise<void> {
    this.health.close()
    this.#closing ??= Promise.withResolvers()
    this.#settle()
    await this.#closing.promise
    const pools = [this.reads, this.administration, this.signIns, this.#writes, this.#feed]
    await Promise.all(pools.map((pool) => pool.close()))
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
