/** What a revocation ends, of one commit of the store: which callers it concerns, by a pure function. */

import { noticeOf, type RevocationNotice } from '../../seats-admin/model/revocation.ts'
import { issuerOf } from '../model/issuer-user.ts'
import type { Principal } from '../model/principal.ts'

/** A change in the feed, with the fields that are used here. */
export interface Change {
  readonly tenant: string
  readonly kind: string
  readonly key: string
  /** The mark of its commit. */
  readonly mark: number
}

/** A commit with a notice of a revocation. */
export interface RevokedCommit {
  readonly tenant: string
  readonly mark: number
  readonly notice: RevocationNotice
  /** The ids of sessions that it has ended, or some of them. */
  readonly sessions: ReadonlySet<string>
  /** The ids of the API keys that it has revoked, or would revoke. */
  readonly keys: ReadonlySet<string>
  /** Whether it has also blocked the user. */
  readonly blocks: boolean
}

/** `ended`: the credential is void. `perhaps`: only a new decision can tell. */
export type Concern = 'none' | 'ended' | 'perhaps'

/** @returns null if the notice is of a newer version */
export function revokedCommit(notice: Change, changes: readonly Change[]): RevokedCommit | null {
  const read = noticeOf(notice.key)
  if (read === null) return null
  const { tenant, mark } = notice
  const idsOf = (kind: string) =>
    changes.filter((each) => each.mark === mark && each.kind === kind).map(({ key }) => key)
  return {
    tenant,
    mark,
    notice: read,
    sessions: new Set(idsOf('session')),
    keys: new Set(read.keys ?? idsOf('api-key')),
    blocks: idsOf('block').length > 0,
  }
}

/** Whether the commit ends what the caller has open. */
export function concernOf(principal: Principal | null, commit: RevokedCommit): Concern {
  if (principal === null || principal.tenant !== commit.tenant) return 'none'
  const concern = concernOfCredential(principal, commit)
  if (concern !== 'none' || !commit.blocks) return concern
  // A token may have been issued after the time of the revocation, by the clock of its issuer.
  return isOfUser(principal, commit) ? 'perhaps' : 'none'
}

function concernOfCredential(principal: Principal, commit: RevokedCommit): Concern {
  const { method, user, session, issuedAt } = principal
  const { notice, keys } = commit
  if (method === 'api-key') {
    const { subject, count } = notice
    const isSubject = count === true && 'api_key' in subject && subject.api_key === user
    return isSubject || keys.has(user) ? 'ended' : 'none'
  }
  if (session !== null) return concernOfSession(principal, session, commit)
  return isOfSubject(principal, commit) && issuedAt <= Math.floor(notice.at / 1000) ? 'ended' : 'none'
}

/**
 * The record of a session tells if the commit does not list it: it may have begun after the revocation, have ended
 * with more than a commit lists, or have ended by an earlier commit that is still to be decided. Otherwise a stream of a
 * stolen session could stay open, and the answer would say that none is.
 */
function concernOfSession(principal: Principal, id: string, commit: RevokedCommit): Concern {
  const { subject, count } = commit.notice
  if (commit.sessions.has(id) || ('session' in subject && subject.session === id)) return 'ended'
  if (!isOfSubject(principal, commit)) return 'none'
  return count === true ? 'ended' : 'perhaps'
}

/** Whether the subject is the user, the issuer or the tenant of the caller. */
function isOfSubject(principal: Principal, commit: RevokedCommit): boolean {
  const { subject } = commit.notice
  if ('tenant' in subject) return true
  if (!('issuer' in subject)) return isOfUser(principal, commit)
  const { method, user } = principal
  return method === 'issuer' && issuerOf(user) === subject.issuer
}

function isOfUser({ owner }: Principal, { notice: { subject } }: RevokedCommit): boolean {
  return 'user' in subject && subject.user === owner
}
