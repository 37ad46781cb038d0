/** Statements of grants with an end, and of the reading of them that decisions have. */

import type { Change } from '../model/change.ts'
import type {
  GrantsReading,
  GrantTerm,
  HeldGrant,
  ListedGrant,
  SeatGrant,
  UserGrantsReading,
} from '../model/grant.ts'
import { isStorableSub } from '../model/user.ts'
import { seatIsVisible } from './pages.ts'
import { type Dialect, integer, type Row, text, textOrNull } from './rows.ts'
import { subDigest, subText } from './block-queries.ts'

/** Grants that a process keeps as a whole for a tenant: a decision then needs no read of its own. */
export const MAX_GRANTS = 500

/**
 * Milliseconds that an ended grant is kept, and is in readings: the clock of the store may have been ahead
 * when it ended.
 */
const KEPT = 24 * 3_600_000

const COLUMNS = `g.id, g.tenant, g.sub, g.seat_id, g.from_at, g.until_at, g.reason, g.created_by, g.created_at,
  s.name AS seat_name`
const LISTED =
  'FROM grants g JOIN seats s ON s.tenant = g.tenant AND s.id = g.seat_id WHERE g.tenant = :tenant'

/**
 * The condition that a row of `grants` is in force by the time of the store.
 *
 * @param grant the alias of the row
 */
export function grantIsInForce({ clock }: Dialect, grant: string): string {
  const { from_at, until_at, created_at } = columnsOf(grant)
  return `(${from_at} <= ${created_at} OR ${from_at} <= ${clock}) AND ${until_at} > ${clock}`
}

function columnsOf(grant: string) {
  return { from_at: `${grant}.from_at`, until_at: `${grant}.until_at`, created_at: `${grant}.created_at` }
}

/** Statements of administration. */
export function grantQueries(dialect: Dialect) {
  const { clock, memberColumn } = dialect
  const visible = seatIsVisible(dialect)
  const page = `ORDER BY g.id LIMIT :rows`
  const listed = `${LISTED} AND g.id > :after AND g.until_at > ${clock} AND g.until_at < :ending_before AND ${visible}`
  const list = (condition: string) => `SELECT ${COLUMNS} ${listed} ${condition} ${page}`
  return {
    /** Ended grants too: by another clock they may be in force. */
    byId: `SELECT ${COLUMNS} ${LISTED} AND g.id = :id AND ${visible}`,
    list: list(''),
    listOfUser: list('AND g.sub_digest = :sub_digest'),
    listOfSeat: list('AND g.seat_id = :seat_id'),
    listOfBoth: list('AND g.sub_digest = :sub_digest AND g.seat_id = :seat_id'),
    allOfUser: `SELECT ${COLUMNS} ${LISTED} AND g.sub_digest = :sub_digest ORDER BY g.id`,
    ofUser: `SELECT count(*) AS count FROM grants
      WHERE tenant = :tenant AND sub_digest = :sub_digest AND until_at + ${KEPT} > ${clock}`,
    insert: `INSERT INTO grants
      (tenant, id, sub, sub_digest, ${memberColumn}, seat_id, from_at, until_at, reason, created_by, created_at)
      VALUES (:tenant, :id, :sub, :sub_digest, :member, :seat_id, :from_at, :until_at, :reason, :created_by, :created_at)`,
    /** So that lists of users have the user, who may never have signed in. */
    listUser: `INSERT INTO users (tenant, sub) SELECT :tenant, :listed_sub WHERE :is_listed = 1
      ON CONFLICT (tenant, sub) DO NOTHING`,
    remove: 'DELETE FROM grants WHERE tenant = :tenant AND id = :id',
    removeAllOfUser: 'DELETE FROM grants WHERE tenant = :tenant AND sub_digest = :sub_digest',
    expire: `DELETE FROM grants
      WHERE tenant = :tenant AND until_at + ${KEPT} <= ${clock} AND until_at + ${KEPT} <= :now`,
  }
}

/** Point reads of the data plane. Each is one statement that also reads the counter and the clock. */
export function grantReads({ list, clock }: Dialect) {
  const from = 'CASE WHEN l.from_at <= l.created_at THEN 0 ELSE l.from_at END'
  const grant = `l.id || ':' || l.seat_id || ':' || CAST(${from} AS text) || ':' || CAST(l.until_at AS text) || ':' || l.sub`
  const reading = (condition: string, end: string) =>
    `SELECT c.seq, c.mark, ${clock} AS now, (SELECT ${list(grant, 'l.id')} FROM (SELECT * FROM grants g
      WHERE g.tenant = :tenant AND g.until_at + ${KEPT} > ${clock} ${condition} ORDER BY g.id ${end}) l) AS grants
      FROM counter c`
  return {
    grants: reading('', `LIMIT ${MAX_GRANTS + 1}`),
    userGrants: reading('AND g.sub_digest = :sub_digest', ''),
  }
}

export function grantsReading(row: Row): GrantsReading {
  const all = grantTerms(row)
  const users = Map.groupBy(all, ({ user }) => user)
  return {
    now: integer(row, 'now'),
    users:
      all.length > MAX_GRANTS
        ? null
        : [...users].map(([user, own]) => ({ user, grants: own.map(({ term }) => term) })),
  }
}

export function userGrantsReading(row: Row): UserGrantsReading {
  return { now: integer(row, 'now'), grants: grantTerms(row).map(({ term }) => term) }
}

/** Each is two ids, two times and the `sub` as JSON, with colons between. */
function grantTerms(row: Row): { readonly user: string; readonly term: GrantTerm }[] {
  const texts: string[] = JSON.parse(text(row, 'grants'))
  return texts.map((grant) => {
    const [id = '', seat = '', from, until, ...sub] = grant.split(':')
    return { user: JSON.parse(sub.join(':')), term: { id, seat, from: Number(from), until: Number(until) } }
  })
}

/**
 * A column of users: the grants in force, as {@link heldGrants} reads them.
 *
 * @param ofUser a condition on row `l` of `grants`
 */
export function grantsColumn(dialect: Dialect, ofUser: string): string {
  const grant = `l.id || ':' || CAST(l.until_at AS text) || ':' || s.name`
  return `(SELECT ${dialect.list(grant, 's.name, l.id')} FROM grants l
    JOIN seats s ON s.tenant = l.tenant AND s.id = l.seat_id
    WHERE ${ofUser} AND ${grantIsInForce(dialect, 'l')}) AS grants`
}

export function heldGrants(row: Row): HeldGrant[] {
  const texts: string[] = JSON.parse(text(row, 'grants'))
  return texts.map((grant) => {
    const [id = '', until, ...name] = grant.split(':')
    return { id, until: Number(until), seat: name.join(':') }
  })
}

export function listedGrant(row: Row): ListedGrant {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    user: JSON.parse(text(row, 'sub')),
    seat: text(row, 'seat_id'),
    seatName: text(row, 'seat_name'),
    from: integer(row, 'from_at'),
    until: integer(row, 'until_at'),
    reason: textOrNull(row, 'reason'),
    createdBy: text(row, 'created_by'),
    createdAt: integer(row, 'created_at'),
  }
}

/** The parameters of `insert` and `listUser`. */
export function grantRow(grant: SeatGrant, { memberKey }: Dialect) {
  const { tenant, id, user, seat, from, until, reason, createdBy, createdAt } = grant
  const isListed = isStorableSub(user)
  return {
    ...{ tenant, id, sub: subText(user), sub_digest: subDigest(user), seat_id: seat },
    ...{ from_at: from, until_at: until, reason, created_by: createdBy, created_at: createdAt },
    member: isListed ? memberKey(user) : null,
    listed_sub: isListed ? user : '',
    is_listed: Number(isListed),
  }
}

/** The key is the user as a JSON string, as it may be any text. */
export function grantChange(tenant: string, user: string): Change {
  return { tenant, kind: 'grant', key: subText(user) }
}
