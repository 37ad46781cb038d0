/** Statements of cutoffs and of the restrictions that decisions read: blocks and cutoffs. */

import { createHash } from 'node:crypto'
import type {
  RestrictionsReading,
  RevocationSubject,
  UserRestriction,
  UserRestrictionReading,
} from '../model/revocation.ts'
import { subDigest } from './block-queries.ts'
import { type Dialect, integer, integerOrNull, type Row, text } from './rows.ts'
import type { Values } from './statements.ts'

/**
 * Restricted users that a process keeps as a whole for a tenant: a decision then needs no read of its own.
 */
export const MAX_RESTRICTED = 500

/** Identifies the subject, because PostgreSQL indexes only short values. */
export function subjectDigest(subject: RevocationSubject): Uint8Array {
  return createHash('sha256').update(JSON.stringify(subject)).digest()
}

/** Point reads of the data plane. Each is one statement that also reads the counter and the clock. */
export function restrictionReads({ list, clock }: Dialect) {
  const block = `coalesce(CAST(l.until AS text), '') || ':' || l.sub`
  const cutoff = `CAST(l.at AS text) || ':' || l.subject`
  const first = `LIMIT ${MAX_RESTRICTED + 1}`
  const cutoffs = (kind: string, limit = '') =>
    `(SELECT ${list(cutoff, 'l.digest')} FROM (SELECT c.digest, c.at, c.subject FROM cutoffs c
       WHERE c.tenant = :tenant AND c.kind = '${kind}' ORDER BY c.digest ${limit}) l)`
  return {
    restrictions: `SELECT c.seq, c.mark, ${clock} AS now,
      (SELECT ${list(block, 'l.id')} FROM
        (SELECT b.id, b.sub, b.until FROM blocks b WHERE b.tenant = :tenant ORDER BY b.id ${first}) l) AS blocks,
      ${cutoffs('user', first)} AS users, ${cutoffs('issuer')} AS issuers,
      (SELECT t.at FROM cutoffs t WHERE t.tenant = :tenant AND t.kind = 'tenant') AS tenant_cutoff
      FROM counter c`,
    // The last end of the blocks of the user, which have different origins.
    userRestriction: `SELECT c.seq, c.mark, ${clock} AS now, l.blocks, l.until, u.at AS cutoff FROM counter c
      CROSS JOIN (SELECT count(*) AS blocks, CASE WHEN count(until) = count(*) THEN max(until) END AS until
        FROM blocks WHERE tenant = :tenant AND sub_digest = :sub_digest) l
      LEFT JOIN cutoffs u ON u.tenant = :tenant AND u.kind = 'user' AND u.digest = :digest`,
  }
}

/** The parameters of the restriction of a user. */
export function userValues(tenant: string, user: string): Values {
  return { tenant, sub_digest: subDigest(user), digest: subjectDigest({ user }) }
}

export function restrictionsReading(row: Row): RestrictionsReading {
  const [blocks, users] = [entriesOf(row, 'blocks'), entriesOf(row, 'users')]
  const restrictions = new Map<string, UserRestriction>()
  for (const [end, sub] of blocks) {
    const user: string = JSON.parse(sub)
    const block = restrictions.get(user)?.block ?? null
    const until = laterEnd(block, end === '' ? null : Number(end))
    restrictions.set(user, { user, block: { until }, cutoff: null })
  }
  for (const [at, subject] of users) {
    const { user }: { user: string } = JSON.parse(subject)
    restrictions.set(user, {
      user,
      block: restrictions.get(user)?.block ?? null,
      cutoff: seconds(Number(at)),
    })
  }
  // Either list may have been cut.
  const isWhole = Math.max(blocks.length, restrictions.size) <= MAX_RESTRICTED
  return {
    now: integer(row, 'now'),
    users: isWhole ? [...restrictions.values()] : null,
    issuers: Object.fromEntries(
      entriesOf(row, 'issuers').map(([at, subject]) => [JSON.parse(subject).issuer, seconds(Number(at))]),
    ),
    tenant: secondsOrNull(row, 'tenant_cutoff'),
  }
}

export function userRestrictionReading(user: string) {
  return (row: Row): UserRestrictionReading => {
    const block = integer(row, 'blocks') === 0 ? null : { until: integerOrNull(row, 'until') }
    const cutoff = secondsOrNull(row, 'cutoff')
    const restriction = block === null && cutoff === null ? null : { user, block, cutoff }
    return { now: integer(row, 'now'), restriction }
  }
}

/**
 * The end of a user's blocks of different origins.
 *
 * @param until the end of a further one; null: it has none
 */
function laterEnd(block: UserRestriction['block'], until: number | null): number | null {
  if (block === null) return until
  return block.until === null || until === null ? null : Math.max(block.until, until)
}

/** Each entry is a number or nothing, a colon and JSON. */
function entriesOf(row: Row, column: string): (readonly [number: string, json: string])[] {
  const entries: string[] = JSON.parse(text(row, column))
  return entries.map((entry) => {
    const end = entry.indexOf(':')
    return [entry.slice(0, end), entry.slice(end + 1)]
  })
}

/** An `iat` has whole seconds: a token of the same second is void. */
function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}

function secondsOrNull(row: Row, column: string): number | null {
  const at = integerOrNull(row, column)
  return at === null ? null : seconds(at)
}
