/** Statements of the audit, their parameters and rows. */

import { type AuditHead, FIRST } from '../model/audit.ts'
import { isUlid } from '../model/ulid.ts'
import type { AuditRow } from './audit-chain.ts'
import type { AuditPage, ChainReading } from './audit-store.ts'
import { type Columns, type Dialect, integer, integerOrNull, type Row, text, textOrNull } from './rows.ts'

/** The states come last: they may be large, and the other columns are read without them. */
export const AUDIT_COLUMNS: Columns<keyof AuditRow> = {
  tenant: 'text',
  id: 'text',
  seq: 'bigint',
  at: 'bigint',
  actor_kind: 'text',
  actor_id: 'text',
  actor_name: 'text',
  request_id: 'text',
  action: 'text',
  target_kind: 'text',
  target_id: 'text',
  target_name: 'text',
  space: 'text',
  prev: 'text',
  hash: 'text',
  visible_in: 'text',
  before: 'text',
  after: 'text',
}

const NAMES = Object.keys(AUDIT_COLUMNS).join(', ')

/**
 * The characters of an id that an index has: PostgreSQL's indexes take no long values. Must equal the expressions of the
 * indexes textually.
 */
const indexed = (column: string) => `substr(${column}, 1, 64)`

/** What has this id, or had this name. A text in the form of an id is taken as one alone, which an index finds. */
function named(who: 'actor' | 'target', given: string): string {
  const byId = `${indexed(`${who}_id`)} = ${indexed(`:${who}`)} AND ${who}_id = :${who}`
  return isUlid(given) ? byId : `(${who}_id = :${who} OR ${who}_name = :${who})`
}

const STATES = ['before', 'after']

/** A page, newest first. */
export function listQuery(
  dialect: Dialect,
  { after, since, until, action, actor, target, scope }: AuditPage,
): string {
  const conditions = ['tenant = :tenant']
  if (after !== null) conditions.push('id < :after')
  if (since !== null) conditions.push('at >= :since')
  if (until !== null) conditions.push('at < :until')
  if (action !== null) conditions.push('action = :action')
  if (actor !== null) conditions.push(named('actor', actor))
  if (target !== null) conditions.push(named('target', target))
  if (!scope.admin) conditions.push('visible_in = :space')
  const rows = `SELECT ${NAMES} FROM audit WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT :rows`
  return dialect.page(rows, STATES, 'DESC')
}

/** The parameters of {@link listQuery}: only those that it has. */
export function listValues(tenant: string, page: AuditPage): Record<string, string | number> {
  const { after, since, until, action, actor, target, scope, limit } = page
  const given = { after, since, until, action, actor, target, space: scope.admin ? null : scope.space }
  const present = Object.entries(given).filter((each): each is [string, string | number] => each[1] !== null)
  return { tenant, limit, rows: limit + 1, ...Object.fromEntries(present) }
}

export const headQuery = 'SELECT seq, hash FROM audit_heads WHERE tenant = :tenant'

export function auditHead(row: Row | undefined): AuditHead | null {
  return row === undefined ? null : { seq: integer(row, 'seq'), hash: text(row, 'hash') }
}

/** A page. One statement, so that the entries and both ends are of one snapshot. */
export function chainQuery(dialect: Dialect): string {
  const entries = `SELECT ${NAMES} FROM audit WHERE tenant = :tenant AND id > :after ORDER BY id LIMIT :limit`
  const page = dialect.page(entries, STATES, 'ASC')
  return `SELECT h.seq AS head_seq, h.hash AS head_hash, st.seq AS start_seq, st.prev AS start_prev, e.*
    FROM (SELECT 1 AS one) o LEFT JOIN audit_heads h ON h.tenant = :tenant
    LEFT JOIN audit_starts st ON st.tenant = :tenant LEFT JOIN (${page}) e ON TRUE ORDER BY e.id`
}

/** @param rows of {@link chainQuery}; at least one, without an id where there are no entries */
export function chainReading(rows: readonly Row[]): ChainReading {
  const first = rows[0] ?? {}
  const startSeq = integerOrNull(first, 'start_seq')
  return {
    rows: rows.filter(({ id }) => id !== null),
    head:
      first.head_seq === null ? null : { seq: integer(first, 'head_seq'), hash: text(first, 'head_hash') },
    start: startSeq === null ? FIRST : { seq: startSeq, prev: textOrNull(first, 'start_prev') },
  }
}
