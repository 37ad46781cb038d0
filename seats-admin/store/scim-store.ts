/**
 * Storage of what an identity provider keeps by SCIM: users, groups and memberships. Each write is one
 * transaction, which the audit records. The author is the provider: `by: 'scim'` and `actor: { kind:
 * 'provider', name: null }`, in the scope of the admin space.
 *
 * A write is numbered in the feed only if it changes what decisions read, as kind `membership`. One that
 * changes nothing is successful, without an entry and with the position of the newest commit: announced, it
 * waits for the write that made it so.
 *
 * A write that takes rights away is refused as `unavailable` while a live instance does not understand the
 * changes.
 */

import type { Committed } from '../model/change.ts'
import type { AsOf } from '../model/readings.ts'
import type { Revocation } from '../model/revocation.ts'
import type {
  MembershipReading,
  ScimGroup,
  ScimGroupInput,
  ScimGroupStep,
  ScimMember,
  ScimMode,
  ScimRefusal,
  ScimUser,
  ScimUserInput,
} from '../model/scim.ts'
import type { Writer } from './writer.ts'

export interface ScimWritten<V> extends Committed {
  readonly value: V
  /**
   * The revocations that are part of the write, which the caller closes as `POST /v1/revocations` does, and
   * then answers with `answerRevocation`. In mode `claim` there is one for each `sub` that signed in with the
   * key.
   */
  readonly revocations: readonly Revocation[]
}

/** Items per page: more are not returned, and fewer where they are large. */
export const MAX_SCIM_PAGE = 500

/**
 * What all items of a list must be. `userName` and `email` are compared without regard to case, others
 * exactly.
 */
export interface ScimUserFilter {
  readonly userName?: string
  readonly externalId?: string
  readonly displayName?: string
  readonly email?: string
}

export interface ScimGroupFilter {
  readonly displayName?: string
  readonly externalId?: string
  /** The id of a user who is a member. */
  readonly member?: string
}

export interface ScimPage<F> {
  readonly filter: F
  /** The position of the first item, from 1. */
  readonly startIndex: number
  /** The most items of the page, up to {@link MAX_SCIM_PAGE}; 0 counts alone. */
  readonly count: number
}

/** In order of creation. */
export interface ScimList<V> {
  readonly data: readonly V[]
  /** The number of all items that the filter selects. */
  readonly total: number
}

export interface ScimMemberPage {
  readonly limit: number
  /** The page contains ids of users after this one; null: from the first. */
  readonly after: string | null
}

export interface ScimStore {
  /** The groups of the user with this member key, for decisions. One statement, with its position. */
  membership(tenant: string, mode: ScimMode, key: string): Promise<AsOf<MembershipReading>>

  /** A user who is not active is blocked from the beginning, with a revocation. */
  createScimUser(
    writer: Writer,
    mode: ScimMode,
    input: ScimUserInput,
  ): Promise<ScimWritten<ScimUser> | ScimRefusal>

  readScimUser(tenant: string, id: string): Promise<ScimUser | null>

  /** Each `sub` of the user with this id; none if there is no such user, or it has no `sub` yet. */
  usersOfScimId(tenant: string, mode: ScimMode, id: string): Promise<string[]>

  listScimUsers(tenant: string, page: ScimPage<ScimUserFilter>): Promise<ScimList<ScimUser>>

  /**
   * Makes the user what `input` says. `editScimUser` calls it: a transaction may run in another thread, which
   * no function can be sent to.
   *
   * `active: false` revokes `all` of the user: the sessions and owned keys end, and a block of origin `scim`
   * stays. So does each update of a user who stays inactive, if the block is gone or the last revocation of
   * the user was not answered as `closed`. `active: true` lifts that block, and what ended stays ended. The
   * user of a former member key loses what a deleted user loses.
   *
   * @param version of the user that `input` was made from; refused as `changed` if it has another
   */
  updateScimUser(
    writer: Writer,
    mode: ScimMode,
    id: string,
    version: number,
    input: ScimUserInput,
  ): Promise<ScimWritten<ScimUser> | ScimRefusal>

  /**
   * Deletes a user who is not active, and whose last revocation was answered as `closed`: takes it out of all
   * groups, deletes its grants and lifts the block of origin `scim`. Any other user stays, and is deactivated
   * as by {@link updateScimUser}: a deletion that an instance did not hear of can be repeated.
   *
   * @returns the value null if the user is deleted; otherwise the user, whose revocations must be closed
   *   first
   */
  deleteScimUser(
    writer: Writer,
    mode: ScimMode,
    id: string,
  ): Promise<ScimWritten<ScimUser | null> | ScimRefusal>

  /**
   * Records at a sign-in in mode `claim` that the user `sub` has this member key. If the SCIM user of the key
   * is not active, `sub` is blocked in the same transaction, and the sign-in must be refused. Of a
   * deactivation at the same time, either this sees it, or it sees the key: call it before the session is
   * created.
   *
   * @returns null: the user is active or unknown to SCIM
   */
  recordScimMember(writer: Writer, sub: string, key: string): Promise<Committed | null | ScimRefusal>

  /**
   * @param members ids of users; one who is not known is refused as `invalid_value`, as in each write of
   *   groups
   */
  createScimGroup(
    writer: Writer,
    input: ScimGroupInput,
    members: readonly string[],
  ): Promise<ScimWritten<ScimGroup> | ScimRefusal>

  readScimGroup(tenant: string, id: string): Promise<ScimGroup | null>

  listScimGroups(tenant: string, page: ScimPage<ScimGroupFilter>): Promise<ScimList<ScimGroup>>

  /**
   * In order of the ids of the users.
   *
   * @param page with at most 1,000
   */
  listScimMembers(
    tenant: string,
    group: string,
    page: ScimMemberPage,
  ): Promise<{ readonly data: readonly ScimMember[]; readonly hasMore: boolean }>

  /**
   * All steps in order, or none.
   *
   * @param steps of `shortSteps`
   */
  updateScimGroup(
    writer: Writer,
    id: string,
    steps: readonly ScimGroupStep[],
  ): Promise<ScimWritten<ScimGroup> | ScimRefusal>

  deleteScimGroup(writer: Writer, id: string): Promise<ScimWritten<null> | ScimRefusal>
}
