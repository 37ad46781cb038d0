/**
 * The store's connection pools, one for each kind of work: point reads, listings, writes, sign-ins and the
 * feed. Work waits only for work of its own kind. Each call has a timeout.
 */

import { Health, type Work } from '../health.ts'
import { monotonic } from '../monotonic.ts'
import type { Row } from '../rows.ts'
import { PATIENCE } from '../seats-file-rules.ts'
import type { Writer } from '../store.ts'
import { CLOSED, StoreUnavailable } from '../unavailable.ts'
import { type Call, withTimeout } from './call.ts'
import type { Connection, Session } from './postgres-connection.ts'
import { Pool } from './postgres-pool.ts'
import type { Values } from '../statements.ts'
import type { Transaction } from '../transaction.ts'
import { IS_PATIENT, transact } from './postgres-transaction.ts'
import type { Target } from './url.ts'

/** Minimum timeout of a feed reading, as a share of the call timeout. */
const FOLLOW_SHARE = 0.25
/** Timeout of a feed reading as a multiple of the previous one's time: a slow store gets longer timeouts. */
const FOLLOW_FACTOR = 4
/** Timeout of the TCP connect as a share of the call timeout; leaves time for a second attempt. */
const CONNECT_SHARE = 0.5
/** Timeout of lock waits as a share of the call timeout; leaves time for the write or the error. */
const LOCK_SHARE = 0.75
/**
 * Timeout of an idle transaction as a share of the call timeout. Short, because all writers of a fleet wait
 * while a frozen process holds the lock.
 */
const IDLE_SHARE = 0.2

/** Whether a write has failed because it waited, perhaps for another one. */
function hasWaited(cause: unknown): boolean {
  return cause instanceof StoreUnavailable && (cause.fault === 'locked' || cause.fault === 'timeout')
}

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

export class ConnectionPools {
  readonly health = new Health()
  readonly reads: Pool
  readonly administration: Pool
  /** For session writes without a row in the feed, which do not lock the counter. */
  readonly signIns: Pool
  readonly #writes: Pool
  readonly #feed: Pool
  readonly #timeout: number
  /** Milliseconds for the next feed reading. */
  #followTimeout: number
  #asking: Promise<boolean | null> | null = null
  #calls = 0
  #closing: PromiseWithResolvers<void> | null = null

  /**
   * @param size connections for reads, as many for administration (half of them for writes), half as many for
   *   sign-ins
   */
  constructor(target: Target, size: number, timeout: number) {
    this.#timeout = timeout
    const session = sessionOf(timeout)
    const half = Math.max(1, Math.floor(size / 2))
    this.reads = new Pool(target, session, size)
    this.administration = new Pool(target, session, Math.max(1, size - half))
    // One connection: writes are serialized anyway, and a frozen process then holds the lock at most once.
    this.#writes = new Pool(target, session, 1)
    this.signIns = new Pool(target, session, half)
    this.#followTimeout = Math.ceil(timeout * FOLLOW_SHARE)
    this.#feed = new Pool(target, { ...session, durable: false }, 1)
  }

  /**
   * For idempotent statements.
   *
   * @param hasStored as of {@link Health.observe}; by default, a write returns the rows that it has changed
   */
  query(
    pool: Pool,
    statement: string,
    values: Values,
    hasStored = (rows: readonly Row[]) => rows.length > 0,
  ): Promise<Row[]> {
    const call = () => this.queryUnobserved(pool, statement, values)
    return this.health.observe(this.#workOf(pool), call, hasStored)
  }

  /** Does not affect the store's health and is not retried to observe it. For idempotent statements. */
  queryUnobserved(pool: Pool, statement: string, values: Values): Promise<Row[]> {
    const isPrepared = pool === this.reads
    return this.#call(this.#timeout, (call) =>
      pool.repeat(call, (connection) => connection.query(statement, values, isPrepared)),
    )
  }

  /**
   * @param writer of a write that the audit records; null for others
   * @param patience times the timeout of other calls
   */
  async write<V>(
    writer: Writer | null,
    work: (transaction: Transaction) => Promise<V>,
    patience = 1,
  ): Promise<V> {
    const transaction = (call: Call) => transact(this.#writes, call, work, writer)
    const attempts = () => this.#afterPatient(this.#timeout * patience, transaction)
    const { value } = await this.health.observe('writes', attempts, ({ hasStored }) => hasStored)
    return value
  }

  /**
   * Tries again while a patient transaction of any instance holds the counter: all wait for it as long as it
   * may take.
   */
  async #afterPatient<V>(timeout: number, work: (call: Call) => Promise<V>): Promise<V> {
    const startedAt = monotonic()
    const until = startedAt + this.#timeout * PATIENCE
    // Why the attempt before the last one failed; null: another one follows if this one fails.
    let reason: unknown = null
    for (;;) {
      let hasBegun = () => true
      const attempt = (call: Call) => {
        hasBegun = () => call.hasBegun
        call.waited = call.startedAt - startedAt
        return work(call)
      }
      try {
        return await this.#call(reason === null ? timeout : this.#shortly, attempt)
      } catch (cause) {
        if (hasBegun() || !hasWaited(cause)) throw cause
        if (reason !== null) throw reason
        if (monotonic() >= until) throw cause
        const isPatientAtWork = await this.#isPatientAtWork()
        if (isPatientAtWork === null) throw cause
        // It may have ended since the attempt failed: then a short attempt takes the counter.
        if (!isPatientAtWork) reason = cause
      }
    }
  }

  /** Milliseconds. */
  get #shortly(): number {
    return Math.ceil(this.#timeout * IDLE_SHARE)
  }

  /** One question for all writes that wait. Null without a quick answer. */
  #isPatientAtWork(): Promise<boolean | null> {
    const ask = (connection: Connection) => connection.query(IS_PATIENT, {})
    this.#asking ??= this.#call(this.#shortly, (call) => this.administration.repeat(call, ask))
      .then(
        ([row]) => row?.is_patient === true,
        () => null,
      )
      .finally(() => (this.#asking = null))
    return this.#asking
  }

  /** Opens the connection of {@link follow} in advance. */
  prepareToFollow(): void {
    this.#feed.warm()
  }

  async follow<V>(work: (connection: Connection) => Promise<V>): Promise<V> {
    const timeout = this.#followTimeout
    let took = timeout / 2
    try {
      return await this.#call(timeout, async (call) => {
        const reading = await this.#feed.use(call, work)
        took = call.elapsed
        return reading
      })
    } finally {
      // A failed reading doubles the timeout, up to the call timeout.
      const next = Math.max(this.#timeout * FOLLOW_SHARE, FOLLOW_FACTOR * took)
      this.#followTimeout = Math.ceil(Math.min(this.#timeout, next))
    }
  }

  #workOf(pool: Pool): Work {
    if (pool === this.reads) return 'reads'
    return pool === this.signIns ? 'writes' : 'lists'
  }

  /** Completes the calls in flight. Idempotent. */
  async close(): Promise<void> {
    this.health.close()
    this.#closing ??= Promise.withResolvers()
    this.#settle()
    await this.#closing.promise
    const pools = [this.reads, this.administration, this.signIns, this.#writes, this.#feed]
    await Promise.all(pools.map((pool) => pool.close()))
  }

  async #call<V>(timeout: number, work: (call: Call) => Promise<V>): Promise<V> {
    if (this.#closing !== null) throw new StoreUnavailable(CLOSED)
    this.#calls++
    try {
      return await withTimeout(timeout, work)
    } finally {
      this.#calls--
      this.#settle()
    }
  }

  #settle(): void {
    if (this.#calls === 0) this.#closing?.resolve()
  }
}
