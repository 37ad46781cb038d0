/**
 * Statements of sessions and of logouts at the provider, their parameters and rows, and the rules of refresh
 * handles. Each statement that writes checks and writes atomically.
 */

import { createHash } from 'node:crypto'
import type { ListedSession, SessionRecord } from '../model/session-record.ts'
import {
  blobOrNull,
  type Dialect,
  integer,
  integerOrNull,
  quoted,
  quotedOrNull,
  type Row,
  text,
} from './rows.ts'
import type {
  HandleProof,
  LogoutSince,
  LogoutSubject,
  Renewal,
  Rotation,
  StoredSession,
} from './session-store.ts'
import type { Values } from './statements.ts'
import type { Writer } from './writer.ts'

/** Columns for the request path: without the handle's hashes and the provider's tokens. */
export const RECORD_COLUMNS =
  'id, tenant, cookie_hash, sub, email, hash_perm, issued_at, renew_at, expires_at, ended_at, revoked, member, void_until'

/** Of {@link listedSession}. */
export const LISTED_COLUMNS = 'id, sub, email, cookie_hash, created_at, expires_at'

export const SESSION_COLUMNS = `${RECORD_COLUMNS}, name, family_hash, handle_hash, sealed, provider_session, created_at`

const THIS = 'tenant = :tenant AND id = :id'

const SAME_SECRETS = ['cookie_hash', 'family_hash', 'handle_hash']

/**
 * Inserts a session. May be repeated after a lost response: equal secrets mean the same session. Returns no
 * row when another session has the id, or during a revocation in the tenant.
 *
 * A revocation waits for the creations that are in flight, and then reads the sessions: one of its subject
 * would otherwise outlive it, created before and visible after. A creation does not wait for a revocation:
 * the creations of one tenant would take all connections for sign-ins while its 100,000 sessions end.
 */
export function creation({ ifNoSoleLock }: Dialect): string {
  return `INSERT INTO sessions (tenant, id, cookie_hash, family_hash, handle_hash, sub, email, name,
      hash_perm, issued_at, renew_at, expires_at, ended_at, sealed, provider_session, created_at, member)
    SELECT :tenant, :id, :cookie_hash, :family_hash, :handle_hash, :sub, :email, :name,
      :hash_perm, :issued_at, :renew_at, :expires_at, :ended_at, :sealed, :provider_session, :created_at, :member
    ${ifNoSoleLock}
    ON CONFLICT (tenant, id) DO UPDATE SET id = excluded.id
    WHERE ${SAME_SECRETS.map((column) => `sessions.${column} IS NOT DISTINCT FROM excluded.${column}`).join(' AND ')}
    RETURNING id`
}

export const sessionQueries = {
  /** Returns a row if another session has the id. */
  taken: `SELECT id FROM sessions WHERE ${THIS}
    AND (${SAME_SECRETS.map((column) => `${column} IS DISTINCT FROM :${column}`).join(' OR ')})`,

  find: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE ${THIS}`,

  /**
   * Consumes a handle. If the row already has `next`, a repeated call succeeds: its first response was lost.
   */
  use: `UPDATE sessions SET handle_hash = :next
    WHERE ${THIS} AND family_hash = :family AND handle_hash IN (:handle, :next)
      AND ended_at IS NULL AND expires_at > :now
    RETURNING ${SESSION_COLUMNS}`,

  giveBack: `UPDATE sessions SET handle_hash = :to_hash, claimed_until = 0,
      sealed = coalesce(:sealed, sealed)
    WHERE ${THIS} AND ended_at IS NULL AND handle_hash IS NOT DISTINCT FROM :from_hash
    RETURNING id`,

  claim: `UPDATE sessions SET claimed_until = :until
    WHERE ${THIS} AND ended_at IS NULL AND expires_at > :now AND claimed_until <= :now
    RETURNING ${SESSION_COLUMNS}`,

  /** Requires `find` and {@link mayRenew} in the same transaction. */
  renew: `UPDATE sessions SET email = :email, name = :name, hash_perm = :hash_perm, issued_at = :issued_at,
      renew_at = :renew_at, sealed = :sealed, claimed_until = 0
    WHERE ${THIS}`,
}

/** The parameters of a use of a refresh handle. */
export type Use = ReturnType<typeof useOf>

export function useOf({ tenant, now }: Writer, id: string, proof: HandleProof, next: Uint8Array) {
  const { family, handle } = proof
  return { tenant, id, family, handle, next, now }
}

/** The outcome for the current row; the checks have the order that `SessionStore` documents. */
export function outcomeOf(row: Row | undefined, { family, handle, now }: Use): Rotation['outcome'] {
  const session = sessionOrNull(row)
  if (session === null || !sameBytes(session.familyHash, family)) return 'unknown'
  if (session.endedAt !== null) return session.revoked ? 'revoked' : 'ended'
  if (!(now < session.expiresAt)) return 'expired'
  return sameBytes(session.handleHash, handle) ? 'rotated' : 'replayed'
}

/** @param voidUntil of the session when the provider was asked: what it said before a later time is old */
export function mayRenew(
  session: StoredSession | null,
  handle: Uint8Array | null,
  voidUntil: number,
): boolean {
  if (session === null || session.endedAt !== null || session.voidUntil !== voidUntil) return false
  return sameBytes(session.handleHash, handle)
}

/** `find`, with a lock of the row until the end of the transaction. */
export function lockedSession({ forUpdate }: Dialect): string {
  return `${sessionQueries.find} ${forUpdate}`
}

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0
}

export const logoutQueries = {
  record: `INSERT INTO provider_logouts (tenant, digest, at) VALUES (:tenant, :digest, :at)
    ON CONFLICT (tenant, digest) DO UPDATE SET at = excluded.at WHERE provider_logouts.at < excluded.at`,
  since: `SELECT at FROM provider_logouts WHERE tenant = :tenant
    AND ((digest = :digest AND at >= :since) OR (digest = :or_digest AND at >= :or_since))`,
  recordToken: `INSERT INTO provider_logouts (tenant, digest, at) VALUES (:tenant, :digest, :at)
    ON CONFLICT (tenant, digest) DO NOTHING RETURNING at`,
  prune: 'DELETE FROM provider_logouts WHERE at < :before',
}

/** The digest of a user in the records of logouts, by which no sign-in from before completes. */
export function userDigest(user: string): Uint8Array {
  return createHash('sha256')
    .update(JSON.stringify(['sub', user]))
    .digest()
}

/** The query that finds the subject's sessions, and its parameters. */
export function openSessionsOf(subject: LogoutSubject): { statement: string; values: Values } {
  const open = (condition: string) =>
    `SELECT ${LISTED_COLUMNS} FROM sessions WHERE tenant = :tenant AND ended_at IS NULL AND ${condition} ORDER BY id LIMIT :limit`
  return 'user' in subject
    ? { statement: open('sub = :sub'), values: { sub: JSON.stringify(subject.user) } }
    : {
        statement: open('provider_session = :provider_session'),
        values: { provider_session: subject.providerSession },
      }
}

export function sinceValues(tenant: string, { digest, since }: LogoutSince, or: LogoutSince | null = null) {
  return { tenant, digest, since, or_digest: or?.digest ?? digest, or_since: or?.since ?? since }
}

const LIVE = `SELECT ${LISTED_COLUMNS} FROM sessions
  WHERE tenant = :tenant AND id > :after AND ended_at IS NULL AND expires_at > :now`
/** In order of the random id; one row more than the page, to learn whether there are more. */
const PAGE = 'ORDER BY id LIMIT :rows'

export const sessionLists = {
  sessions: `${LIVE} ${PAGE}`,
  sessionsOfUser: `${LIVE} AND sub = :sub ${PAGE}`,
}

export function sessionRecord(row: Row): SessionRecord {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    cookieHash: blobOrNull(row, 'cookie_hash'),
    user: JSON.parse(text(row, 'sub')),
    email: quotedOrNull(row, 'email'),
    hashPerm: JSON.parse(text(row, 'hash_perm')),
    issuedAt: integer(row, 'issued_at'),
    renewAt: integer(row, 'renew_at'),
    expiresAt: integer(row, 'expires_at'),
    endedAt: integerOrNull(row, 'ended_at'),
    revoked: integer(row, 'revoked') === 1,
    ...(row.member === null ? {} : { member: JSON.parse(text(row, 'member')) }),
    voidUntil: integer(row, 'void_until'),
  }
}

export function storedSession(row: Row): StoredSession {
  return {
    ...sessionRecord(row),
    name: quotedOrNull(row, 'name'),
    familyHash: blobOrNull(row, 'family_hash'),
    handleHash: blobOrNull(row, 'handle_hash'),
    sealed: text(row, 'sealed'),
    providerSession: blobOrNull(row, 'provider_session'),
    createdAt: integerOrNull(row, 'created_at'),
  }
}

export function sessionOrNull(row: Row | undefined): StoredSession | null {
  return row === undefined ? null : storedSession(row)
}

export function listedSession(row: Row): ListedSession {
  return {
    id: text(row, 'id'),
    user: JSON.parse(text(row, 'sub')),
    email: quotedOrNull(row, 'email'),
    kind: row.cookie_hash === null ? 'program' : 'browser',
    createdAt: integerOrNull(row, 'created_at'),
    expiresAt: integer(row, 'expires_at'),
  }
}

/** Parameters by column name. */
export function sessionValues(session: StoredSession) {
  return {
    tenant: session.tenant,
    id: session.id,
    cookie_hash: session.cookieHash,
    family_hash: session.familyHash,
    handle_hash: session.handleHash,
    sub: JSON.stringify(session.user),
    expires_at: session.expiresAt,
    ended_at: session.endedAt,
    provider_session: session.providerSession,
    created_at: session.createdAt,
    member: quoted(session.member ?? null),
    ...renewalValues(session),
  }
}

export function renewalValues({ email, name, hashPerm, issuedAt, renewAt, sealed }: Renewal) {
  return {
    email: quoted(email),
    name: quoted(name),
    hash_perm: JSON.stringify(hashPerm),
    issued_at: issuedAt,
    renew_at: renewAt,
    sealed,
  }
}
