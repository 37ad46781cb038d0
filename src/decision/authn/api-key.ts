/**
 * `x-api-key`. One of the ways to say who calls; asked by `authenticator.ts`.
 *
 * Cache: where an accepted key's record is found, so that its text is not decoded at each request. Key: SHA-256 of
 * the text, so no usable key lies in memory. Value: tenant and id. Never an answer: the record is asked for, as it is
 * now, each time. The principal of a record is made once, and is gone with the record.
 */

import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { hashApiKey, parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { Refusal } from '../../model/errors.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { Trace } from '../../model/decision.ts'
import type { Principal } from '../../model/principal.ts'

export interface ApiKeyOptions {
  /** Configured tenants, by id. */
  readonly tenants: { has(id: string): boolean }
  /** The record as it is now; rejects when the store can't be asked. */
  readonly apiKeyById: (
    tenant: string,
    id: string,
    trace?: Trace,
  ) => StoredApiKey | null | Promise<StoredApiKey | null>
  /** ms since the epoch */
  readonly now: () => number
  /** Bytes of what is remembered. */
  readonly memory: number
}

interface KeyAddress {
  readonly tenant: string
  readonly id: string
}

/** One text for all that may be wrong with a key, so that it tells nobody which tenants and ids exist. */
const invalid = new Refusal('api_key_invalid', 'The API key is not known here.')
const expired = new Refusal('api_key_expired', 'The API key has expired.')
const revoked = new Refusal('api_key_revoked', 'The API key has been revoked.')

/** Stands in for the hash of a key that doesn't exist. */
const NO_HASH = new Uint8Array(32)

export class ApiKeys {
  readonly #options: ApiKeyOptions
  readonly #accepted: LRUCache<string, KeyAddress>
  /** What a record of memory means to a decision: made once, gone with the record. */
  readonly #principals = new WeakMap<StoredApiKey, Principal>()

  constructor(options: ApiKeyOptions) {
    this.#options = options
    this.#accepted = new LRUCache({ maxSize: options.memory, sizeCalculation: () => ADDRESS_BYTES })
  }

  authenticate(text: string, trace?: Trace): Principal | Refusal | Promise<Principal | Refusal> {
    if (text.length > MAX_KEY) return invalid
    const hash = hashApiKey(text)
    const cacheKey = Buffer.from(hash).toString('latin1')
    const address = this.#accepted.get(cacheKey) ?? parseApiKey(text)
    if (address === null || !this.#options.tenants.has(address.tenant)) return invalid
    const record = this.#options.apiKeyById(address.tenant, address.id, trace)
    if (record instanceof Promise) return record.then((found) => this.#admit(address, hash, cacheKey, found))
    return this.#admit(address, hash, cacheKey, record)
  }

  /** Expiry before revocation: a key that is both is expired. */
  #admit(
    address: KeyAddress,
    hash: Uint8Array,
    cacheKey: string,
    record: StoredApiKey | null,
  ): Principal | Refusal {
    const same = equal(hash, record?.hash ?? NO_HASH)
    if (record === null || !same) return invalid
    if (record.expiresAt !== null && !(this.#options.now() < record.expiresAt)) return expired
    if (record.revokedAt !== null) return revoked
    if (!this.#accepted.has(cacheKey)) this.#accepted.set(cacheKey, address)
    return this.#principal(record)
  }

  #principal(record: StoredApiKey): Principal {
    const known = this.#principals.get(record)
    if (known !== undefined) return known
    const { tenant, id, seatIds, expiresAt } = record
    const principal: Principal = Object.freeze({
      method: 'api-key',
      tenant,
      user: id,
      email: null,
      claims: Object.freeze({ by: 'id' as const, seats: seatIds }),
      session: null,
      validUntil: expiresAt,
    })
    this.#principals.set(record, principal)
    return principal
  }
}

/** Of a hash, a tenant, an id, and their place in the map: all are bounded. */
const ADDRESS_BYTES = 400

/** Characters. No key of the gateway comes near. */
const MAX_KEY = 1024

function equal(hash: Uint8Array, stored: Uint8Array): boolean {
  return stored.length === hash.length && timingSafeEqual(hash, stored)
}
