/**
 * A read-through cache of Seats and API keys in Redis, shared by the instances of a fleet. It stands between
 * the Seat memory and the store, and has the store's interface.
 *
 * Key: kind, tenant, and name or id. Value: the store's row with the store position of the read. A value is
 * valid only if the history of changes confirms it (`coherence/history.ts`), so a late writer, a replica that
 * lost writes or a cache older than a restored backup do no harm; and only if it is sealed (`redis-seal.ts`)
 * for exactly this key. Values expire after {@link TTL}. A read waits at most `COMMAND_TIMEOUT`, and not at
 * all for {@link PAUSE} after Redis timed out.
 */

import type { StoredApiKey } from '../../seats-admin/model/api-key.ts'
import type {
  AsOf,
  GrantReader,
  GrantReading,
  Named,
  SpacesReading,
} from '../../seats-admin/model/readings.ts'
import type { SeatLists } from '../../seats-admin/model/seat.ts'
import type { History } from '../coherence/history.ts'
import { Lookups } from '../model/cache-lookups.ts'
import type { Source } from '../model/decision.ts'
import type { SeatQuestion } from '../model/decision-seat.ts'
import { type RedisConnection, isReady } from './redis-connection.ts'
import type { Keys } from './keys.ts'
import { MAX_VALUE } from './resp.ts'
import type { Seal } from './redis-seal.ts'
import { decode, encode, keyRow, namedRow, seatRowOrNull, type Kind } from './seat-codec.ts'

/** Seconds until an entry expires. Entries in use stay in the Seat memory; this bounds unused ones. */
const TTL = 3600
/** Milliseconds without Redis after a failure: a frozen server delays one request, not every one. */
const PAUSE = 500

/** The Redis of a fleet. */
export interface SharedCache {
  readonly connection: RedisConnection
  readonly keys: Keys
  readonly seal: Seal
}

type Sourced<V> = AsOf<V> & { readonly source: Source }

export class SeatCache {
  readonly #store: GrantReader
  readonly #shared: SharedCache
  readonly #history: Pick<History, 'isCurrent'>
  readonly #now: () => number
  readonly #lookups: Lookups
  #pausedUntil = 0

  /** @param now monotonic ms */
  constructor(
    store: GrantReader,
    shared: SharedCache,
    history: Pick<History, 'isCurrent'>,
    now: () => number,
    lookups = new Lookups(),
  ) {
    this.#lookups = lookups
    this.#store = store
    this.#shared = shared
    this.#history = history
    this.#now = now
  }

  grantByName(tenant: string, name: string, question: SeatQuestion): Promise<Sourced<Named<GrantReading>>> {
    const load = () => this.#store.grantByName(tenant, name, question)
    return this.#read('seat-name', tenant, name, namedRow, load, ({ seat }) => seat?.complete !== false)
  }

  grantById(tenant: string, id: string, question: SeatQuestion): Promise<Sourced<GrantReading | null>> {
    const load = () => this.#store.grantById(tenant, id, question)
    return this.#read('seat', tenant, id, seatRowOrNull, load, (seat) => seat?.complete !== false)
  }

  spacesByName(tenant: string, name: string): Promise<AsOf<SpacesReading | null>> {
    return this.#store.spacesByName(tenant, name)
  }

  seatById(tenant: string, id: string): Promise<AsOf<SeatLists | null>> {
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
    load: () => Promise<AsOf<V>>,
    isComplete: (value: V) => boolean = () => true,
  ): Promise<Sourced<V>> {
    // In UTF-8, names that differ only in lone surrogates become the same key.
    if (!key.isWellFormed()) return { ...(await load()), source: 'store' }
    const at = this.#shared.keys.value(kind, tenant, key)
    const sealed = await this.#get(at)
    const cached = sealed === null ? null : decode(this.#shared.seal.open(at, sealed), shape)
    if (cached !== null && this.#history.isCurrent(cached, { tenant, kind, key })) {
      this.#lookups.hits++
      return { ...cached, source: 'redis' }
    }
    this.#lookups.misses++
    const read = await load()
    // Clients can invent ids that don't exist: caching those would fill Redis. No partial Seat is cached.
    if (read.value !== null && isComplete(read.value)) this.#set(at, this.#shared.seal.seal(at, encode(read)))
    return { ...read, source: 'store' }
  }

  async #get(at: string): Promise<string | null> {
    if (!isReady(this.#shared.connection) || this.#now() < this.#pausedUntil) return null
    try {
      const text: unknown = await this.#shared.connection.get(at)
      return typeof text === 'string' ? text : null
    } catch {
      this.#pausedUntil = this.#now() + PAUSE
      return null
    }
  }

  #set(at: string, text: string): void {
    if (!isReady(this.#shared.connection) || this.#now() < this.#pausedUntil || text.length > MAX_VALUE)
      return
    this.#shared.connection.set(at, text, 'EX', TTL).catch(() => {})
  }
}
