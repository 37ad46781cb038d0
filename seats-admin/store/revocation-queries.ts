/** Statements and rows of revocations. */

import type { RevocationNotice, RevocationSubject } from '../model/revocation.ts'
import type { Change } from '../model/change.ts'
import { subDigest } from './block-queries.ts'
import { subjectDigest } from './restriction-queries.ts'
import type { RevocationInput, StoredRevocation } from './revocation-store.ts'
import { apiKeyColumns, type Dialect, integer, integerOrNull, type Row, text, textOrNull } from './rows.ts'
import { LISTED_COLUMNS } from './session-queries.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { Values } from './statements.ts'

/** Whose sessions and API keys a revocation ends. */
export interface Concern {
  /** A condition on table `sessions`, for those after `:after_sub` and `:after`; null: no session. */
  readonly sessions: string | null
  /** A condition on API key `k`; null: no key. */
  readonly keys: string | null
  readonly values: Values
}

/** @param kept the id of the API key that a revocation of the tenant leaves; null: it leaves none */
export function concernOf(
  { subject, apiKeys }: Pick<RevocationInput, 'subject' | 'apiKeys'>,
  kept: string | null,
): Concern {
  if ('user' in subject) {
    const values = { sub: JSON.stringify(subject.user), owner_digest: subDigest(subject.user) }
    return { sessions: 'sub = :sub AND id > :after', keys: 'k.owner_digest = :owner_digest', values }
  }
  if ('tenant' in subject)
    return {
      sessions: '(sub, id) > (:after_sub, :after)',
      keys: apiKeys ? 'k.id <> :kept' : null,
      values: { kept: kept ?? '' },
    }
  if ('session' in subject)
    return { sessions: 'id = :wanted', keys: null, values: { wanted: storableOrEmpty(subject.session) } }
  if ('api_key' in subject)
    return { sessions: null, keys: 'k.id = :wanted', values: { wanted: storableOrEmpty(subject.api_key) } }
  return { sessions: null, keys: null, values: {} }
}

const OPEN_SESSIONS = `FROM sessions WHERE tenant = :tenant AND ended_at IS NULL
  AND (created_at IS NULL OR created_at <= :born)`
const OPEN_KEYS =
  'FROM api_keys k WHERE k.tenant = :tenant AND k.revoked_at IS NULL AND k.created_at <= :born'

/**
 * Statements for rows from after `:after`, at most `:limit`, that were created up to `:born`. Sessions have
 * the order of the index of open ones: in the order of their ids, PostgreSQL without statistics sorts all
 * that are left for each page, which took 136 ms a page for a tenant with 50,000.
 */
export function concernQueries(dialect: Dialect) {
  const { forUpdate } = dialect
  return {
    sessions: (condition: string) =>
      `SELECT ${LISTED_COLUMNS} ${OPEN_SESSIONS} AND ${condition} ORDER BY sub, id LIMIT :limit`,
    keys: (condition: string) =>
      `SELECT ${apiKeyColumns(dialect)} ${OPEN_KEYS} AND ${condition} AND k.id > :after ORDER BY k.id LIMIT :limit ${forUpdate}`,
    sessionCount: (condition: string) => `SELECT count(*) AS count ${OPEN_SESSIONS} AND ${condition}`,
    keyCount: (condition: string) => `SELECT count(*) AS count ${OPEN_KEYS} AND ${condition}`,
    keyIds: (condition: string) => `SELECT k.id ${OPEN_KEYS} AND ${condition} ORDER BY k.id LIMIT :limit`,
    session: 'SELECT id FROM sessions WHERE tenant = :tenant AND id = :wanted',
    key: 'SELECT id FROM api_keys WHERE tenant = :tenant AND id = :wanted',
  }
}

export const revocationQueries = {
  /** The newest of a subject: the time never goes back. */
  cutoff: `INSERT INTO cutoffs (tenant, digest, kind, subject, at, revocation)
    VALUES (:tenant, :subject_digest, :kind, :subject, :revoked_since, :revocation)
    ON CONFLICT (tenant, kind, digest) DO UPDATE SET at = excluded.at, revocation = excluded.revocation
    WHERE cutoffs.at < excluded.at`,

  insert: `INSERT INTO revocations (tenant, id, seq, at, subject, subject_digest, record, answer)
    VALUES (:tenant, :revocation, :revocation_seq, :revoked_since, :subject, :subject_digest, :record, :answer)`,

  find: 'SELECT id FROM revocations WHERE tenant = :tenant AND id = :id',

  answer: 'UPDATE revocations SET answer = :answer WHERE tenant = :tenant AND id = :id AND answer IS NULL',
}

const COLUMNS = `r.id, r.tenant, r.seq, r.at, r.subject, r.record, r.answer,
  (SELECT c.at FROM cutoffs c WHERE c.tenant = r.tenant AND c.kind IN ('user', 'issuer', 'tenant') AND c.digest = r.subject_digest) AS cutoff`

export function revocationReads(dialect: Dialect) {
  const page = (condition: string) =>
    dialect.page(
      `SELECT ${COLUMNS} FROM revocations r WHERE r.tenant = :tenant AND r.id < :before ${condition}
         ORDER BY r.id DESC LIMIT :rows`,
      ['record', 'answer'],
      'DESC',
    )
  return {
    revocation: `SELECT ${COLUMNS} FROM revocations r WHERE r.tenant = :tenant AND r.id = :id`,
    revocations: page(''),
    revocationsOf: page('AND r.subject_digest = :subject_digest'),
  }
}

/** The kind of a subject that has a cutoff; null: it has none. */
export function cutoffKind(subject: RevocationSubject): 'user' | 'issuer' | 'tenant' | null {
  if ('user' in subject) return 'user'
  if ('issuer' in subject) return 'issuer'
  return 'tenant' in subject ? 'tenant' : null
}

export function subjectValues(subject: RevocationSubject) {
  return { subject: JSON.stringify(subject), subject_digest: subjectDigest(subject) }
}

export function noticeChange(tenant: string, notice: RevocationNotice): Change {
  return { tenant, kind: 'revocation', key: JSON.stringify(notice) }
}

export function storedRevocation(row: Row): StoredRevocation {
  const [subject, at, cutoff] = [
    JSON.parse(text(row, 'subject')),
    integer(row, 'at'),
    integerOrNull(row, 'cutoff'),
  ]
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    seq: integer(row, 'seq'),
    at,
    subject,
    ...JSON.parse(text(row, 'record')),
    answer: textOrNull(row, 'answer'),
    isInForce: cutoffKind(subject) === null || (cutoff !== null && cutoff >= at),
  }
}
