/**
 * Seats and API keys as one instance has read them from the store, kept in Redis for the others. Stands between memory
 * and the store; memory asks it as it would ask the store.
 *
 * Key: kind, tenant, and name or id. Value: what the store gave, with the position of the store it was read at. A value
 * counts only if the history of changes says so (`coherence/history.ts`), so a late writer, a replica that lost writes
 * or a cache from before a restored backup do no harm; and only if it is sealed (`seal.ts`) for just this key. Kept for {@link KEPT}. Waits for {@link COMMAND_TIMEOUT} at most,
 * and not at all for a while after Redis failed to answer in time.
 */

import type { StoredApiKey } from '../../seats-admin/model/api-key.ts'
import type { Source } from '../model/decision.ts'
import type { SeatQuestion } from '../model/seat.ts'
import { type RedisConnection, isReady } from './connection.ts'
import type { Keys } from './keys.ts'
import { MAX_VALUE } from './resp.ts'
import type { Seal } from './seal.ts'
import {
  decode,
  encode,
  keyRow,
  namedRow,
  seatRowOrNull,
  type Kind,
  type NamedRow,
  type Read,
  type SeatRow,
} from './seat-codec.ts'

/** Seconds. What is used goes on being used from memory; this only bounds what nobody asks for any more. */
const KEPT = 3600
/** Milliseconds without Redis after it failed: a frozen one costs one wait, not one a request. */
const PAUSE = 500

/** The store, as memory asks it. */
export interface SeatStore {
  grantByName(tenant: string, name: string, question: SeatQuestion): Promise<Read<NamedRow>>
  grantById(tenant: string, id: string, question: SeatQuestion): Promise<Read<SeatRow | null>>
  spacesByName(tenant: string, name: string): Promise<Read<SeatSpaces | null>>
  seatById(tenant: string, id: string): Promise<Read<SeatLists | null>>
  apiKeyById(tenant: string, id: string): Promise<Read<StoredApiKey | null>>
}

/** What sign-in needs of a Seat: from the store alone. */
export interface SeatSpaces {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
}

/** All of a Seat, whatever its size: from the store alone. */
export interface SeatLists {
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
}

/** Says whether a value that was read at a position still counts. */
export interface Freshness {
  counts(
    position: { readonly seq: number; readonly mark: number },
    what: { readonly tenant: string; readonly kind: Kind; readonly key: string },
  ): boolean
}

/** The Redis that a fleet shares. */
export interface SharedCache {
  readonly connection: RedisConnection
  readonly keys: Keys
  readonly seal: Seal
}

type Sourced<V> = Read<V> & { readonly source: Source }

export class SeatCache {
  readonly #store: SeatStore
  readonly #redis: RedisConnection
  readonly #keys: Keys
  readonly #seal: Seal
  readonly #history: Freshness
  readonly #now: () => number
  #pausedUntil = 0

  /** @param now monotonic ms */
  constructor(
    store: SeatStore,
    { connection, keys, seal }: SharedCache,
    history: Freshness,
    now: () => number,
  ) {
    this.#store = store
    this.#redis = connection
    this.#keys = keys
    this.#seal = seal
    this.#history = history
    this.#now = now
  }

  grantByName(tenant: string, name: string, question: SeatQuestion): Promise<Sourced<NamedRow>> {
    const ask = () => this.#store.grantByName(tenant, name, question)
    return this.#read('seat-name', tenant, name, namedRow, ask, ({ seat }) => seat?.complete !== false)
  }

  grantById(tenant: string, id: string, question: SeatQuestion): Promise<Sourced<SeatRow | null>> {
    const ask = () => this.#store.grantById(tenant, id, question)
    return this.#read('seat', tenant, id, seatRowOrNull, ask, (seat) => seat?.complete !== false)
  }

  spacesByName(tenant: string, name: string): Promise<Read<SeatSpaces | null>> {
    return this.#store.spacesByName(tenant, name)
  }

  seatById(tenant: string, id: string): Promise<Read<SeatLists | null>> {
    return this.#store.seatById(tenant, id)
  }

  apiKeyById(tenant: string, id: string): Promise<Sourced<StoredApiKey | null>> {
    return this.#read('api-key', tenant, id, keyRow, () => this.#store.apiKeyById(tenant, id))
  }

  async #read<V>(
    kind: Kind,
    tenant: string,
    key: string,
    shape: (data: unknown) => V | undefined,
    ask: () => Promise<Read<V>>,
    isWhole: (value: V) => boolean = () => true,
  ): Promise<Sourced<V>> {
    // In UTF-8, lone surrogates of different names would be the same key.
    if (!key.isWellFormed()) return { ...(await ask()), source: 'store' }
    const at = this.#keys.value(kind, tenant, key)
    const sealed = await this.#get(at)
    const kept = sealed === null ? null : decode(this.#seal.open(at, sealed), shape)
    if (kept !== null && this.#history.counts(kept, { tenant, kind, key }))
      return { ...kept, source: 'redis' }
    const read = await ask()
    // Ids that don't exist are for anybody to invent: they would fill Redis. An answer to one question is not the Seat.
    if (read.value !== null && isWhole(read.value)) this.#set(at, this.#seal.seal(at, encode(read)))
    return { ...read, source: 'store' }
  }

  async #get(at: string): Promise<string | null> {
    if (!isReady(this.#redis) || this.#now() < this.#pausedUntil) return null
    try {
      const found: unknown = await this.#redis.get(at)
      return typeof found === 'string' ? found : null
    } catch {
      this.#pausedUntil = this.#now() + PAUSE
      return null
    }
  }

  #set(at: string, text: string): void {
    if (!isReady(this.#redis) || this.#now() < this.#pausedUntil || text.length > MAX_VALUE) return
    this.#redis.set(at, text, 'EX', KEPT).catch(() => {})
  }
}
