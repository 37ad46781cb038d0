/**
 * Whether Redis does what the gateway needs of it: reads, writes and messages. A server that accepts
 * connections may refuse any of them: a replica, a full memory, an access list. Each second one read and one
 * write of every kind of key is tried. The write is `SET … XX` of a key that does not exist: Redis refuses it
 * as any other, and nothing is written.
 */

import { performance } from 'node:perf_hooks'
import type { Bus } from '../coherence/bus.ts'
import { type RedisConnection, isReady } from './redis-connection.ts'
import type { Keys } from './keys.ts'

/** Milliseconds between attempts. */
const PROBE_INTERVAL = 1000
/** Milliseconds without a success until Redis counts as down. One reply may be late. */
const PROBE_TIMEOUT = 2500
/** Milliseconds after a refusal of any command. One node of a cluster may refuse what the others accept. */
const REFUSAL_LASTS = 3000
/** Suffixes of the keys, used in turn: they lie on different nodes of a cluster. */
const SUFFIXES = 64

/** Resolves when reads and writes of every kind of key are accepted. Nothing is written. */
export async function tryKeys(connection: RedisConnection, keys: Keys, suffix: number): Promise<void> {
  const tried = keys.unused(suffix).map(async (key) => {
    await connection.get(key)
    await connection.set(key, '', 'PX', 1, 'XX')
  })
  // All are awaited, or a second failure would have no handler.
  const failed = (await Promise.allSettled(tried)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

export class RedisHealth {
  readonly #connection: RedisConnection
  readonly #keys: Keys
  readonly #bus: Pick<Bus, 'up'>
  readonly #checked: (isUp: boolean, hasChanged: boolean) => void
  readonly #timer: NodeJS.Timeout
  #wasUp = false
  #probing = false
  #suffix = 0
  /** Monotonic ms. */
  #succeededAt = Number.NEGATIVE_INFINITY
  #refusedAt = Number.NEGATIVE_INFINITY

  /** @param checked called once a second, and with each connection; down is the first state */
  constructor(
    connection: RedisConnection,
    keys: Keys,
    bus: Pick<Bus, 'up'>,
    checked: (isUp: boolean, hasChanged: boolean) => void = () => {},
  ) {
    this.#connection = connection
    this.#keys = keys
    this.#bus = bus
    this.#checked = checked
    this.#timer = setInterval(() => void this.#check(), PROBE_INTERVAL).unref()
    connection.on('ready', () => void this.#check())
  }

  get up(): boolean {
    const now = performance.now()
    return this.#bus.up && now - this.#succeededAt < PROBE_TIMEOUT && now - this.#refusedAt >= REFUSAL_LASTS
  }

  /** Redis refused a command on any connection. */
  refused(): void {
    this.#refusedAt = performance.now()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #check(): Promise<void> {
    await this.#probe()
    const { up } = this
    this.#checked(up, up !== this.#wasUp)
    this.#wasUp = up
  }

  async #probe(): Promise<void> {
    if (this.#probing || !isReady(this.#connection)) return
    this.#probing = true
    try {
      this.#suffix = (this.#suffix + 1) % SUFFIXES
      await tryKeys(this.#connection, this.#keys, this.#suffix)
      this.#succeededAt = performance.now()
    } catch {
      // The connection reports refusals; a late reply or a lost connection shows by its absence.
    } finally {
      this.#probing = false
    }
  }
}
