/** The caller of a made-up request, as its credential would be authenticated: a holder of Seats, a user or an API key. */

import type { Scope, Store } from '../../seats-admin/index.ts'
import { isUlid } from '../../seats-admin/model/ulid.ts'
import type { TenantConfig } from '../config/config.ts'
import { acceptedKey, invalidKey, verifiedKey } from '../decision/authn/api-key-authentication.ts'
import { missingCredential } from '../decision/authn/authenticator.ts'
import type { Refusal } from '../model/errors.ts'
import type { Principal } from '../model/principal.ts'

/** At most one of them is there. None: the request has no credential. */
interface Holder {
  /** Names. */
  readonly seats?: readonly string[] | null
  /** The `sub`. */
  readonly user?: string | null
  /** The id of an API key, or the key itself. */
  readonly api_key?: string | null
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
 * @param asker outside the admin space only Seats of its space are known, and users and keys that hold one
 * @param space of the request; null: it has none
 */
export async function explainedCaller(
  { seats = null, user = null, api_key: key = null }: Holder,
  space: string | null,
  { tenant, scope }: { readonly tenant: TenantConfig; readonly scope: Scope },
  deps: CallerDeps,
): Promise<ExplainedCaller> {
  if (key !== null) return { caller: await keyOf(key, tenant.id, scope, deps), canBeBlocked: false }
  if (seats === null && user === null) return { caller: missingCredential, canBeBlocked: false }
  const now = deps.now()
  const found = user === null ? null : await deps.store.readUser(tenant.id, user, { ...scope, admin: true })
  // A name without a Seat counts in the space of the request, so that the record has its verdict.
  const ofUnknown = seats === null || space === null ? [] : [space]
  const entries = new Map<string, string[]>()
  for (const name of new Set(seats ?? found?.seats ?? [])) {
    const { seat } = (await deps.store.seatByName(tenant.id, name)).value
    const shown = seat === null ? [] : shownSpaces(seat.spaces, scope)
    for (const each of shown.length === 0 && (seat === null || !scope.admin) ? ofUnknown : shown) {
      const named = entries.get(each) ?? []
      named.push(name)
      entries.set(each, named)
    }
  }
  const isKnown = scope.admin || (found !== null && entries.size > 0)
  const { leeway, lifetime } = tenant.token
  // As a token that sign-in mints now.
  const caller: Principal = {
    method: 'bearer',
    tenant: tenant.id,
    user: user ?? 'explain',
    email: isKnown ? (found?.email ?? null) : null,
    claims: { by: 'name', entries, issuedAt: Math.floor(Math.floor(now / 1000) - leeway / 1000) },
    session: null,
    validUntil: now + lifetime,
  }
  return { caller, canBeBlocked: user !== null && isKnown }
}

/** One answer for every key that the asker can't see, as for one that there is not. */
async function keyOf(
  text: string,
  tenant: string,
  scope: Scope,
  { store, now }: CallerDeps,
): Promise<Principal | Refusal> {
  const recordOf = async (id: string) => (await store.apiKeyById(tenant, id)).value
  const isOwn = { has: (id: string) => id === tenant }
  const record = isUlid(text) ? await recordOf(text) : await verifiedKey(text, isOwn, (_, id) => recordOf(id))
  if (record === null) return invalidKey
  if (scope.admin) return acceptedKey(record, now())
  const visible: string[] = []
  for (const id of record.seatIds) {
    const seat = (await store.seatById(tenant, id)).value
    if (seat !== null && shownSpaces(seat.spaces, scope).length > 0) visible.push(id)
  }
  return visible.length === 0 ? invalidKey : acceptedKey({ ...record, seatIds: visible }, now())
}

/** Those that the asker may see. */
function shownSpaces(spaces: readonly string[], { admin, space }: Scope): readonly string[] {
  return admin ? spaces : spaces.filter((each) => each === space)
}
