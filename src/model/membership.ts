/**
 * Who a caller is in SCIM: the key by which callers and SCIM users meet, and the ids of memberships in memory
 * and in the changes that arrive.
 */

import { MAX_SCIM_KEY, membershipKeyOf, type ScimMode } from '../../seats-admin/model/scim.ts'
import type { SeatClaims } from './principal.ts'

/** The settings of a tenant that say what gives its users Seats. */
export interface SeatsSource {
  /** Left out: `claim`. */
  readonly seatsFrom?: 'claim' | 'scim'
  /** Left out, or null: the tenant has no SCIM. */
  readonly scim?: { readonly user: { readonly mode: ScimMode; readonly claim: string | null } } | null
}

/** The value as the key of a SCIM user; null: no user has it. */
export function memberKey(value: unknown): string | null {
  const isKey =
    typeof value === 'string' && value !== '' && value.length <= MAX_SCIM_KEY && value.isWellFormed()
  return isKey ? value : null
}

/** The names of the groups of a user. */
export type Groups = readonly string[]

/** Those of a user who is not active: this very object. */
export const DEACTIVATED: Groups = Object.freeze([])

type MembershipClaims = Extract<SeatClaims, { by: 'membership' }>

/**
 * What gives a user Seats if the tenant has `seats_from: scim`; else null: the credential.
 *
 * @param sub that of the user
 * @param recorded the key that a sign-in has recorded, or the claim has; used in mode `claim` alone
 * @param issuedAt that of the claims of the credential; left out: there is no credential
 */
export function membershipClaims(
  { seatsFrom = 'claim', scim = null }: SeatsSource,
  sub: string,
  recorded: unknown,
  issuedAt = Number.NEGATIVE_INFINITY,
): MembershipClaims | null {
  if (seatsFrom === 'claim') return null
  const mode = scim?.user.mode ?? 'claim'
  const key = memberKey(mode === 'claim' ? recorded : sub)
  return Object.freeze({ by: 'membership', member: key === null ? null : memberId(mode, key), issuedAt })
}

/** The id of a membership: the attribute of the SCIM user, a colon and the key. */
export function memberId(mode: ScimMode, key: string): string {
  return `${mode === 'userName' ? 'userName' : 'externalId'}:${key}`
}

/** The parts of the id of a membership. */
export function memberOf(id: string): {
  readonly attribute: Exclude<ScimMode, 'claim'>
  readonly key: string
} {
  const end = id.indexOf(':')
  return { attribute: id.slice(0, end) === 'userName' ? 'userName' : 'externalId', key: id.slice(end + 1) }
}

/** The ids of the memberships that a change concerns; null: all those of its tenant. */
export function changedMembers(changeKey: string): readonly string[] | null {
  const key = membershipKeyOf(changeKey)
  if (key === null) return null
  const [externalId, userName] = key
  const byName = memberId('userName', userName)
  return externalId === null ? [byName] : [memberId('externalId', externalId), byName]
}

/** The user whose grants a change concerns, as the one element of a list; null: all those of its tenant. */
export function changedUsers(changeKey: string): readonly string[] | null {
  const user: unknown = JSON.parse(changeKey)
  return typeof user === 'string' ? [user] : null
}
