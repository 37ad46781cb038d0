/**
 * Users and groups as an identity provider keeps them here by SCIM 2.0 (RFC 7643). Times in ms since the
 * epoch.
 *
 * The *member key* is the text by which a SCIM user and a caller meet. {@link ScimMode} says what it is. It
 * is compared exactly, and never an email address: a user who may choose it at the provider would get the
 * groups of another.
 */

import type { JsonObject } from './canonical-json.ts'
import type { Committed } from './change.ts'

/**
 * The meaning of the member key, `scim.user` of a tenant:
 *
 * - `externalId`: the `externalId` of the SCIM user, and the `sub` of the caller
 * - `userName`: the `userName` of the SCIM user as written, and the `sub` of the caller
 * - `claim`: the `externalId` of the SCIM user, and a claim that a sign-in recorded
 */
export type ScimMode = 'externalId' | 'userName' | 'claim'

/** Characters (UTF-16 code units) of `userName` and `externalId`: a member key may be a `sub`. */
export const MAX_SCIM_KEY = 255
/** Characters of a display name: it may be as long as the name of a Seat. */
export const MAX_SCIM_NAME = 512
/** Characters of an email address. */
export const MAX_SCIM_EMAIL = 320
/** Bytes of the JSON of {@link ScimUserInput.resource}. */
export const MAX_SCIM_RESOURCE = 256 * 1024
export const MAX_GROUP_MEMBERS = 100_000
export const MAX_USER_GROUPS = 1000

/** A user as a provider describes it. */
export interface ScimUserInput {
  /** Unique in the tenant without regard to case. */
  readonly userName: string
  /** Unique in the tenant; null: the provider gave none. */
  readonly externalId: string | null
  readonly active: boolean
  /** The value of the first email address of type work; null: there is none. */
  readonly email: string | null
  readonly displayName: string | null
  /** The other attributes, as they are answered. */
  readonly resource: JsonObject
}

export interface ScimUser extends ScimUserInput {
  /** A ULID. */
  readonly id: string
  readonly tenant: string
  /** The number of writes, from 1. Those of groups do not count. */
  readonly version: number
  readonly createdAt: number
  readonly modifiedAt: number
}

export interface ScimGroupInput {
  /** Unique in the tenant, compared exactly: the name of the Seat that the group gives. */
  readonly displayName: string
  readonly externalId: string | null
}

export interface ScimGroup extends ScimGroupInput {
  /** A ULID. */
  readonly id: string
  readonly tenant: string
  /** The number of members, and of those among them who are active. */
  readonly memberCount: number
  readonly activeCount: number
  /** The number of writes, from 1. */
  readonly version: number
  readonly createdAt: number
  readonly modifiedAt: number
}

/** A member of a group, as the group names it. */
export interface ScimMember {
  /** The id of the user. */
  readonly id: string
  readonly userName: string
  readonly displayName: string | null
}

/**
 * A step of a change of a group. Members are ids of users. To add a member or to remove one who is none
 * changes nothing. `replace` makes the list the members.
 */
export type ScimGroupStep =
  | { readonly set: Partial<ScimGroupInput> }
  | { readonly add: readonly string[] }
  | { readonly remove: readonly string[] }
  | { readonly replace: readonly string[] }

/** Ids of a step: 30 KB of JSON, which the event loop writes within a millisecond. */
const MAX_STEP = 1000

/** The same steps, in pieces of at most 1,000 ids. */
export function shortSteps(steps: readonly ScimGroupStep[]): ScimGroupStep[] {
  return steps.flatMap((step): ScimGroupStep[] => {
    if ('set' in step) return [step]
    if ('add' in step) return pieces(step.add).map((add) => ({ add }))
    if ('remove' in step) return pieces(step.remove).map((remove) => ({ remove }))
    const [replace = [], ...rest] = pieces(step.replace)
    return [{ replace }, ...rest.map((add) => ({ add }))]
  })
}

function pieces(ids: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(ids.length / MAX_STEP)
  return Array.from({ length: count }, (_, at) => ids.slice(at * MAX_STEP, (at + 1) * MAX_STEP))
}

/** What decisions need of a SCIM user. */
export interface ScimMembership {
  /** False: the user has no Seats, whatever the groups. */
  readonly active: boolean
  /** The display names of the groups of the user, in order, at most {@link MAX_USER_GROUPS}. */
  readonly groups: readonly string[]
}

/** The user of a member key. */
export interface MembershipReading {
  /** Null: no SCIM user has the key. */
  readonly user: ScimMembership | null
}

/**
 * The key of a change of kind `membership`: the possible member keys of the user; null: any user of the
 * tenant.
 */
export type MembershipKey = readonly [externalId: string | null, userName: string] | null

/** @returns null for every user, and for any text that a newer version may write */
export function membershipKeyOf(key: string): MembershipKey {
  const value: unknown = JSON.parse(key)
  if (!Array.isArray(value) || value.length !== 2) return null
  const [externalId, userName]: unknown[] = value
  const isKey = (externalId === null || typeof externalId === 'string') && typeof userName === 'string'
  return isKey ? [externalId, userName] : null
}

export const SCIM_REFUSALS = [
  /** No user or group has the id. */
  'not_found',
  /** Another one has the `userName`, the `externalId` or the `displayName`. */
  'uniqueness',
  /** A value that cannot be stored, a limit, or a member that is no user. */
  'invalid_value',
  'precondition_failed',
  /** A live instance is of a version that would decide otherwise. Nothing was changed. */
  'unavailable',
  /** The user was changed since it was read. `editScimUser` reads it again. */
  'changed',
] as const

/** As an `AdminRefusal`, it rolls its transaction back. */
export interface ScimRefusal {
  readonly refused: (typeof SCIM_REFUSALS)[number]
  readonly detail: string
  /**
   * The position of the newest commit, which is announced before the answer, as an earlier request may have made
   * it so. Left out: the answer says nothing of earlier requests.
   */
  readonly upTo?: Committed
}

export function isScimRefusal(value: unknown): value is ScimRefusal {
  return typeof value === 'object' && value !== null && 'refused' in value
}
