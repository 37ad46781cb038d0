/**
 * What is done to sign-in sessions, in SQL that both drivers share, and what becomes of a refresh handle. Called by the
 * drivers' session writers. Each statement looks and writes at once: nothing comes between.
 */

import type { Position } from '../model/change.ts'
import type { Row } from './rows.ts'
import { SESSION_COLUMNS, sessionOrNull } from './session-rows.ts'
import type { HandleProof, Rotation, SessionChanged, StoredSession } from './session-store.ts'

const THIS = 'tenant = :tenant AND id = :id'

/**
 * A driver may send it again when its answer was lost: the same secrets are the same session. No row where the id is
 * another session's.
 */
export const CREATE = `INSERT INTO sessions (tenant, id, cookie_hash, family_hash, handle_hash, sub, email, name,
    hash_perm, issued_at, renew_at, expires_at, ended_at, sealed)
  VALUES (:tenant, :id, :cookie_hash, :family_hash, :handle_hash, :sub, :email, :name,
    :hash_perm, :issued_at, :renew_at, :expires_at, :ended_at, :sealed)
  ON CONFLICT (tenant, id) DO UPDATE SET id = excluded.id
  WHERE sessions.cookie_hash IS NOT DISTINCT FROM excluded.cookie_hash
    AND sessions.family_hash IS NOT DISTINCT FROM excluded.family_hash
    AND sessions.handle_hash IS NOT DISTINCT FROM excluded.handle_hash
  RETURNING id`

export const FIND = `SELECT ${SESSION_COLUMNS} FROM sessions WHERE ${THIS}`

/** Uses a handle up. The next one was drawn for this call: where it is there already, the call's answer was lost. */
export const USE = `UPDATE sessions SET handle_hash = :next
  WHERE ${THIS} AND family_hash = :family AND handle_hash IN (:handle, :next)
    AND ended_at IS NULL AND expires_at > :now
  RETURNING ${SESSION_COLUMNS}`

export const GIVE_BACK = `UPDATE sessions SET handle_hash = :to_hash, claimed_until = 0,
    sealed = coalesce(:sealed, sealed)
  WHERE ${THIS} AND ended_at IS NULL AND handle_hash IS NOT DISTINCT FROM :from_hash
  RETURNING id`

export const CLAIM = `UPDATE sessions SET claimed_until = :until
  WHERE ${THIS} AND ended_at IS NULL AND expires_at > :now AND claimed_until <= :now
  RETURNING ${SESSION_COLUMNS}`

/** To be done to a session that {@link FIND} has found in the same transaction, and {@link mayRenew} has let pass. */
export const RENEW = `UPDATE sessions SET email = :email, name = :name, hash_perm = :hash_perm, issued_at = :issued_at,
    renew_at = :renew_at, sealed = :sealed, claimed_until = 0
  WHERE ${THIS}`

/** One that was ended keeps its time. Nobody needs the provider's tokens any more. */
export const END = `UPDATE sessions SET ended_at = coalesce(ended_at, :now), sealed = '' WHERE ${THIS}`

/** A use of a refresh handle, by the names of the parameters. */
export type Use = ReturnType<typeof useOf>

export function useOf(tenant: string, id: string, proof: HandleProof, next: Uint8Array, now: number) {
  const { family, handle } = proof
  return { tenant, id, family, handle, next, now }
}

/** What is to become of it, by the row as it is: looked at in the order that `SessionStore` promises. */
export function outcomeOf(row: Row | undefined, { family, handle, now }: Use): Rotation['outcome'] {
  const session = sessionOrNull(row)
  if (session === null || !same(session.familyHash, family)) return 'unknown'
  if (session.endedAt !== null) return 'ended'
  if (!(now < session.expiresAt)) return 'expired'
  return same(session.handleHash, handle) ? 'rotated' : 'replayed'
}

export function mayRenew(session: StoredSession | null, handle: Uint8Array | null): boolean {
  return session !== null && session.endedAt === null && same(session.handleHash, handle)
}

export function sessionChange(tenant: string, id: string): SessionChanged['changes'][number] {
  return { tenant, kind: 'session', key: id }
}

export function sessionChanged({ seq, mark }: Position, tenant: string, id: string): SessionChanged {
  return { seq, mark, changes: [sessionChange(tenant, id)] }
}

/** Ids are drawn at random: this says that something is badly wrong, and not what. */
export function idTaken(): Error {
  return new Error('another session has this id')
}

function same(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0
}
