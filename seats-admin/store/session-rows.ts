/** Converts session rows to the model's types. */

import { blobOrNull, integer, integerOrNull, type Row, text } from './rows.ts'
import type { ListedSession, SessionRecord } from '../model/session-record.ts'
import type { Renewal, StoredSession } from './session-store.ts'

/** Columns for the request path: without the handle's hashes and the provider's tokens. */
export const RECORD_COLUMNS =
  'id, tenant, cookie_hash, sub, email, hash_perm, issued_at, renew_at, expires_at, ended_at'

/** Of {@link listedSession}. */
export const LISTED_COLUMNS = 'id, sub, email, cookie_hash, created_at, expires_at'

export const SESSION_COLUMNS = `${RECORD_COLUMNS}, name, family_hash, handle_hash, sealed, provider_session, created_at`

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

/**
 * Values of the identity provider are stored as JSON, which escapes unusual characters: PostgreSQL's text can't hold U+0000
 * and lone surrogates, and SQLite changes the latter. Different users thus always have different values.
 */
function quoted(value: string | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

function quotedOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : JSON.parse(text(row, column))
}
