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

/** A commit with a revocation, or with several: those that receipts make again. */
export interface RevokedCommit {
  readonly tenant: string
  readonly mark: number
  readonly notices: readonly RevocationNotice[]
  /** Whether it revokes nothing, and is only to be counted. */
  readonly isCount: boolean
  /** The ids of sessions that it has ended, or some of them. */
  readonly sessions: ReadonlySet<string>
  /** The ids of the API keys that it has revoked, or would revoke. */
  readonly keys: ReadonlySet<string>
  /** The users that it has also blocked. */
  readonly blocked: ReadonlySet<string>
}

/** `ended`: the credential is void. `perhaps`: only a new decision can tell. */
export type Concern = 'none' | 'ended' | 'perhaps'

/**
 * @param changes all those of one commit
 * @returns null if a notice is of a newer version, or there is none
 */
export function revokedCommit(changes: readonly Change[]): RevokedCommit | null {
  const keysOf = (kind: string) => changes.filter((each) => each.kind === kind).map(({ key }) => key)
  const texts = keysOf('revocation')
  const notices = texts.map(noticeOf).filter((notice) => notice !== null)
  const [first] = changes
  if (first === undefined || notices.length === 0 || notices.length < texts.length) return null
  const { tenant, mark } = first
  return {
    tenant,
    mark,
    notices,
    isCount: notices.every(({ count }) => count === true),
    sessions: new Set(keysOf('session')),
    keys: new Set([...keysOf('api-key'), ...notices.flatMap(({ keys = [] }) => keys)]),
    blocked: new Set(keysOf('block').map((key) => JSON.parse(key))),
  }
}

/** Whether the commit ends what the caller has open. */
export function concernOf(principal: Principal | null, commit: RevokedCommit): Concern {
  if (principal === null || principal.tenant !== commit.tenant) return 'none'
  // A token may have been issued after the time of the revocation, by the clock of its issuer.
  let concern: Concern = principal.owner !== null && commit.blocked.has(principal.owner) ? 'perhaps' : 'none'
  for (const notice of commit.notices) {
    const next = concernOfCredential(principal, notice, commit)
    if (next === 'ended') return next
    if (next === 'perhaps') concern = next
  }
  return concern
}

function concernOfCredential(principal: Principal, notice: RevocationNotice, commit: RevokedCommit): Concern {
  const { method, session, issuedAt } = principal
  if (method === 'api-key') return concernOfKey(principal, notice, commit)
  if (session !== null) return concernOfSession(principal, session, notice, commit)
  return isOfSubject(principal, notice) && issuedAt <= Math.floor(notice.at / 1000) ? 'ended' : 'none'
}

/** The record of a key tells if the commit does not list it, as that of a session. */
function concernOfKey(principal: Principal, notice: RevocationNotice, { keys }: RevokedCommit): Concern {
  const { user: id } = principal
  const { subject, count } = notice
  if (keys.has(id) || ('api_key' in subject && subject.api_key === id)) return 'ended'
  if (count === true) return 'none'
  const includesKeys = !('tenant' in subject) || keys.size > 0
  return includesKeys && isOfSubject(principal, notice) ? 'perhaps' : 'none'
}

/**
 * The record of a session tells if the commit does not list it: it may have begun after the revocation, have ended
 * with more than a commit lists, or have ended by an earlier commit that is still to be decided. Otherwise a stream of a
 * stolen session could stay open, and the answer would say that none is.
 */
function concernOfSession(
  principal: Principal,
  id: string,
  notice: RevocationNotice,
  { sessions }: RevokedCommit,
): Concern {
  const { subject, count } = notice
  if (sessions.has(id) || ('session' in subject && subject.session === id)) return 'ended'
  if (!isOfSubject(principal, notice)) return 'none'
  return count === true ? 'ended' : 'perhaps'
}

/** Whether the subject is the user, the issuer or the tenant of the caller. */
function isOfSubject({ method, user, owner }: Principal, { subject }: RevocationNotice): boolean {
  if ('tenant' in subject) return true
  if ('user' in subject) return subject.user === owner
  return 'issuer' in subject && method === 'issuer' && issuerOf(user) === subject.issuer
}
