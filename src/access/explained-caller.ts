/** The caller of a made-up request, as its credential would be authenticated: a holder of Seats, a user or an API key. */

import type { Scope, Store } from '../../seats-admin/index.ts'
import { isUlid } from '../../seats-admin/model/ulid.ts'
import type { TenantConfig } from '../config/config.ts'
import { acceptedKey, invalidKey, verifiedKey } from '../decision/authn/api-key-authentication.ts'
import { missingCredential } from '../decision/authn/authenticator.ts'
import type { Refusal } from '../model/errors.ts'
import type { Principal } from '../model/principal.ts'

/** At most one of them is not null. All null: the request has no credential. */
export interface Holder {
  /** Names. */
  readonly seats: readonly string[] | null
  /** The `sub`. */
  readonly user: string | null
  /** The id of an API key, or the key itself. */
  readonly apiKey: string | null
}

export interface CallerDeps {
  readonly store: Pick<Store, 'seatByName' | 'seatById' | 'readUser' | 'apiKeyById'>
  /** ms since the epoch */
  readonly now: () => number
}

export interface ExplainedCaller {
  readonly caller: Principal | Refusal
  /** Whether blocks apply: of a user whom the asker may see. */
  readonly canBeBlocked: boolean
}

/**
 * @param scope of the asker: outside the admin space only Seats of its space are known, and users and keys that hold one
 * @param space of the request; null: it has none
 */
export async function explainedCaller(
  { seats, user, apiKey }: Holder,
  space: string | null,
  { tenant, scope }: { readonly tenant: TenantConfig; readonly scope: Scope },
  deps: CallerDeps,
): Promise<ExplainedCaller> {
  const known = new KnownSeats(tenant.id, scope, deps)
  if (apiKey !== null) return { caller: await keyOf(apiKey, tenant.id, known, deps), canBeBlocked: false }
  if (seats === null && user === null) return { caller: missingCredential, canBeBlocked: false }
  const now = deps.now()
  const found = user === null ? null : await deps.store.readUser(tenant.id, user, { ...scope, admin: true })
  // A name without a Seat counts in the space of the request, so that the record has its verdict.
  const ofUnknown = seats === null || space === null ? [] : [space]
  const entries = await known.entriesOf(seats ?? found?.seats ?? [], ofUnknown)
  const isKnown = scope.admin || (found !== null && entries.size > 0)
  const caller = tokenOf(tenant, now, {
    user: user ?? 'explain',
    email: isKnown ? (found?.email ?? null) : null,
    entries,
  })
  return { caller, canBeBlocked: user !== null && isKnown }
}

/** As a token that sign-in mints now. */
function tokenOf(
  { id, token: { leeway, lifetime } }: TenantConfig,
  now: number,
  subject: Pick<Principal, 'user' | 'email'> & { readonly entries: ReadonlyMap<string, readonly string[]> },
): Principal {
  const { user, email, entries } = subject
  const issuedAt = Math.floor(Math.floor(now / 1000) - leeway / 1000)
  const claims = { by: 'name', entries, issuedAt } as const
  return { method: 'bearer', tenant: id, user, email, claims, session: null, validUntil: now + lifetime }
}

/** One answer for every key that the asker can't see, as for one that there is not. */
async function keyOf(
  text: string,
  tenant: string,
  known: KnownSeats,
  { store, now }: CallerDeps,
): Promise<Principal | Refusal> {
  const recordOf = async (id: string) => (await store.apiKeyById(tenant, id)).value
  const isOwn = { has: (id: string) => id === tenant }
  const record = isUlid(text) ? await recordOf(text) : await verifiedKey(text, isOwn, (_, id) => recordOf(id))
  if (record === null) return invalidKey
  const seats = await known.visibleIds(record.seatIds)
  if (!known.seesAll && seats.length === 0) return invalidKey
  return acceptedKey({ ...record, seatIds: seats }, now())
}

/** The Seats that the asker may see. */
class KnownSeats {
  readonly #tenant: string
  readonly #scope: Scope
  readonly #store: CallerDeps['store']

  constructor(tenant: string, scope: Scope, { store }: CallerDeps) {
    this.#tenant = tenant
    this.#scope = scope
    this.#store = store
  }

  get seesAll(): boolean {
    return this.#scope.admin
  }

  /** Space → names, as in a token. @param ofUnknown spaces of names without a Seat */
  async entriesOf(names: readonly string[], ofUnknown: readonly string[]): Promise<Map<string, string[]>> {
    const entries = new Map<string, string[]>()
    for (const name of new Set(names)) {
      const { seat } = (await this.#store.seatByName(this.#tenant, name)).value
      const spaces = seat === null ? [] : this.#shown(seat.spaces)
      for (const space of spaces.length === 0 && (seat === null || !this.seesAll) ? ofUnknown : spaces) {
        const named = entries.get(space)
        if (named === undefined) entries.set(space, [name])
        else named.push(name)
      }
    }
    return entries
  }

  async visibleIds(ids: readonly string[]): Promise<readonly string[]> {
    if (this.seesAll) return ids
    const visible: string[] = []
    for (const id of ids) {
      const seat = (await this.#store.seatById(this.#tenant, id)).value
      if (seat !== null && this.#shown(seat.spaces).length > 0) visible.push(id)
    }
    return visible
  }

  #shown(spaces: readonly string[]): readonly string[] {
    const { admin, space } = this.#scope
    return admin ? spaces : spaces.filter((each) => each === space)
  }
}
