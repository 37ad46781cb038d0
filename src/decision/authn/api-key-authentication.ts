/**
 * Authentication by `x-api-key`: the SHA-256 of the key is compared with the hash of its record.
 *
 * Cache: the address of an accepted key's record, so that the key is not decoded at each request. Key:
 * SHA-256 of the key, so that memory holds no usable key. Value: tenant and id, never a verdict: the record
 * is looked up at each request. A record's principal is created once and dropped with the record.
 */

import { hashApiKey, parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { LruBudget, LruMap, ONE_OWNER } from '../../lib/lru-maps.ts'
import { areSameBytes } from '../../lib/same-bytes.ts'
import { Lookups } from '../../model/cache-lookups.ts'
import { Refusal } from '../../model/errors.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { RecordLookup, Trace } from '../../model/decision.ts'
import type { Principal } from '../../model/principal.ts'
import { type KeyMark, KeyUses } from './key-uses.ts'

export interface ApiKeyOptions {
  /** Configured tenants, by id. */
  readonly tenants: { has(id: string): boolean }
  /** The current record. Rejects if the store can't be asked. */
  readonly apiKeyById: RecordLookup<StoredApiKey>
  /** ms since the epoch */
  readonly now: () => number
  /** The bytes of the cache. */
  readonly memory: number
  readonly lookups?: Lookups
  readonly keyUses?: KeyUses
}

interface KeyAddress {
  readonly tenant: string
  readonly id: string
}

interface KeyCaller {
  readonly principal: Principal
  readonly mark: KeyMark
}

/** One detail for every cause, so that a response does not reveal which tenants and ids exist. */
export const invalidKey = new Refusal('api_key_invalid', 'The API key is unknown.')
/** Says what the text looks like, and nothing about any tenant or key. */
const tokenInstead = new Refusal(
  'api_key_invalid',
  'The API key is unknown. It has the form of a token, which belongs in the field Authorization, after "Bearer ".',
)
const expired = new Refusal('api_key_expired', 'The API key has expired.')
const revoked = new Refusal('api_key_revoked', 'The API key has been revoked.')

/** Compared in place of the hash of a key that does not exist, so that both cases take the same time. */
const NO_HASH = new Uint8Array(32)

export class ApiKeys {
  readonly #options: ApiKeyOptions
  readonly #lookups: Lookups
  readonly #accepted: LruMap<KeyAddress>
  readonly #uses: KeyUses
  /** The principal of each record in memory, which is dropped with the record. */
  readonly #callers = new WeakMap<StoredApiKey, KeyCaller>()

  constructor(options: ApiKeyOptions) {
    this.#options = options
    this.#lookups = options.lookups ?? new Lookups()
    this.#uses = options.keyUses ?? new KeyUses()
    this.#accepted = new LruMap(new LruBudget(options.memory), () => ADDRESS_BYTES)
  }

  authenticate(text: string, trace?: Trace): Principal | Refusal | Promise<Principal | Refusal> {
    if (text.length > MAX_KEY) return unknown(text)
    const hash = hashApiKey(text)
    const cacheKey = hash.toString('latin1')
    const cached = this.#accepted.get(ONE_OWNER, cacheKey)
    this.#lookups[cached === undefined ? 'misses' : 'hits']++
    const address = cached?.value ?? parseApiKey(text)
    if (address === null || !this.#options.tenants.has(address.tenant)) return unknown(text)
    const record = this.#options.apiKeyById(address.tenant, address.id, trace)
    const newKey = cached === undefined ? cacheKey : null
    if (record instanceof Promise) return record.then((it) => this.#admit(address, hash, newKey, it))
    return this.#admit(address, hash, newKey, record)
  }

  /** @param newKey of the cache; null: the address is cached */
  #admit(
    address: KeyAddress,
    hash: Uint8Array,
    newKey: string | null,
    record: StoredApiKey | null,
  ): Principal | Refusal {
    const same = areSameBytes(hash, record?.hash ?? NO_HASH)
    if (record === null || !same) return invalidKey
    const refusal = refusalOf(record, this.#options.now())
    if (refusal !== null) return refusal
    if (newKey !== null) this.#accepted.set(ONE_OWNER, newKey, address)
    const { principal, mark } = this.#callers.get(record) ?? this.#learn(record)
    if (!mark.noted) this.#uses.note(mark, record.tenant, record.id, this.#options.now())
    return principal
  }

  #learn(record: StoredApiKey): KeyCaller {
    const caller = { principal: principalOf(record), mark: this.#uses.markOf(record.tenant, record.id) }
    this.#callers.set(record, caller)
    return caller
  }
}

/**
 * Expiry is checked before revocation: a key that is both is `api_key_expired`.
 *
 * @param now ms since the epoch
 */
function refusalOf({ tenant, id, expiresAt, revokedAt }: StoredApiKey, now: number): Refusal | null {
  const caller = { tenant, user: id }
  if (expiresAt !== null && !(now < expiresAt)) return expired.of(caller)
  return revokedAt === null ? null : revoked.of(caller)
}

function principalOf({ tenant, id, seatIds, owner, expiresAt }: StoredApiKey): Principal {
  return Object.freeze({
    method: 'api-key',
    tenant,
    user: id,
    email: null,
    claims: Object.freeze({ by: 'id' as const, seats: seatIds }),
    owner,
    issuedAt: Infinity,
    session: null,
    validUntil: expiresAt,
  })
}

/**
 * The result of authentication by a key with this record.
 *
 * @param now ms since the epoch
 */
export function acceptedKey(record: StoredApiKey, now: number): Principal | Refusal {
  return refusalOf(record, now) ?? principalOf(record)
}

/**
 * The record of a key of these tenants, for questions about it. Its use is not noted. Null: there is no such
 * key.
 */
export async function verifiedKey(
  text: string,
  tenants: { has(id: string): boolean },
  apiKeyById: RecordLookup<StoredApiKey>,
): Promise<StoredApiKey | null> {
  const address = text.length > MAX_KEY ? null : parseApiKey(text)
  if (address === null || !tenants.has(address.tenant)) return null
  const record = await apiKeyById(address.tenant, address.id)
  const same = areSameBytes(hashApiKey(text), record?.hash ?? NO_HASH)
  return same ? record : null
}

/** The bytes of a hash, a tenant, an id and their entry: all are bounded. */
const ADDRESS_BYTES = 450

/** The most characters of a key. Every key of the gateway is shorter. */
const MAX_KEY = 1024

/** A compact JWS (RFC 7515, section 3.1) whose header is a JSON object. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/

function unknown(text: string): Refusal {
  return TOKEN.test(text) ? tokenInstead : invalidKey
}
