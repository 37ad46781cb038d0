/**
 * Which callers the revocations of one commit concern, by a pure function. `reevaluation.ts` cuts their
 * streams and requests.
 */

import { isListed, noticeOf } from '../../seats-admin/model/revocation.ts'
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

/**
 * A commit with a revocation, or with several: those that receipts make again. An exchange takes the same
 * time to look at, however many there are: 650 ms for 50,000 exchanges and 1,000 receipts, one by one.
 */
export interface RevokedCommit {
  readonly tenant: string
  readonly mark: number
  /** Whether it revokes nothing, and is only to be counted. */
  readonly isCount: boolean
  /** User → the T of its revocation, in whole seconds since the epoch. */
  readonly users: ReadonlyMap<string, number>
  /** Issuer → T, as of users. */
  readonly issuers: ReadonlyMap<string, number>
  /** The T of the whole tenant; null: it is not revoked. */
  readonly everyone: number | null
  /** The ids of sessions that it has ended, or some of them. */
  readonly sessions: ReadonlySet<string>
  /** The ids of the API keys that it has revoked, or would revoke, or some of them. */
  readonly keys: ReadonlySet<string>
  /** Whether it lists each session and API key that it has ended. */
  readonly isListed: boolean
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
  const [users, issuers] = [new Map<string, number>(), new Map<string, number>()]
  const [sessions, keys] = [new Set(keysOf('session')), new Set(keysOf('api-key'))]
  let everyone: number | null = null
  for (const { subject, at, keys: counted = [] } of notices) {
    const second = Math.floor(at / 1000)
    if ('user' in subject) users.set(subject.user, later(users.get(subject.user), second))
    else if ('issuer' in subject) issuers.set(subject.issuer, later(issuers.get(subject.issuer), second))
    else if ('session' in subject) sessions.add(subject.session)
    else if ('api_key' in subject) keys.add(subject.api_key)
    else everyone = later(everyone, second)
    for (const id of counted) keys.add(id)
  }
  const isCount = notices.every(({ count }) => count === true)
  const blocked = new Set(keysOf('block').map((key) => JSON.parse(key)))
  return {
    tenant: first.tenant,
    mark: first.mark,
    isCount,
    users,
    issuers,
    everyone,
    sessions,
    keys,
    isListed: notices.every(isListed),
    blocked,
  }
}

function later(one: number | null | undefined, other: number): number {
  return Math.max(one ?? other, other)
}

/**
 * Whether the commit ends what the caller has open.
 *
 * The record of a session or an API key tells if the commit does not list it: it may have begun after the
 * revocation, have ended with more than a commit lists, or have ended by an earlier commit that is still to
 * be decided. Otherwise a stream of a stolen session could stay open, and the answer would say that none is.
 */
export function concernOf(principal: Principal | null, commit: RevokedCommit): Concern {
  if (principal === null || principal.tenant !== commit.tenant) return 'none'
  const { method, user, owner, session, issuedAt } = principal
  const { isCount, sessions, keys, blocked } = commit
  const isKey = method === 'api-key'
  if (isKey ? keys.has(user) : session !== null && sessions.has(session)) return 'ended'
  const cutoff = cutoffOf(principal, commit)
  const isToken = !isKey && session === null
  if (cutoff !== null && isToken && issuedAt <= cutoff) return 'ended'
  if (isCount) return cutoff === null || isKey || isToken ? 'none' : 'ended'
  // A token may have been issued after the time of the revocation, by the clock of its issuer.
  const isBlocked = owner !== null && blocked.has(owner)
  return isBlocked || (cutoff !== null && !isToken) ? 'perhaps' : 'none'
}

/** The newest T of the caller, of its issuer and of its tenant; null: the commit concerns none of them. */
function cutoffOf(
  { method, user, owner }: Principal,
  { users, issuers, everyone, keys, isListed: areListed }: RevokedCommit,
): number | null {
  const ofUser = owner === null ? undefined : users.get(owner)
  const ofIssuer = method === 'issuer' ? issuers.get(issuerOf(user)) : undefined
  // The revocation of a tenant leaves API keys alone, unless it says otherwise.
  let cutoff = method === 'api-key' && keys.size === 0 && areListed ? null : everyone
  if (ofUser !== undefined) cutoff = later(cutoff, ofUser)
  if (ofIssuer !== undefined) cutoff = later(cutoff, ofIssuer)
  return cutoff
}
