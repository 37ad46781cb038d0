/**
 * The parts of statements that say which Seats users have: by their latest sign-in, or by their SCIM groups.
 */

import type { SeatsFrom } from '../model/seats-from.ts'
import { type Dialect, SEAT_COLUMNS } from './rows.ts'
import { grantIsInForce } from './seat-grant-queries.ts'

/** Rows `l` with `tenant` and `seat_id`, for the Seats of one user. */
export interface SeatsOfUser {
  /** After a row that has the user: a join, which reads by indexes. */
  readonly join: string
  /** The same rows in a subquery. */
  readonly from: string
  readonly condition: string
}

/** @param sub the expression of the `sub` of the user */
export function seatsOfUser(dialect: Dialect, seatsFrom: SeatsFrom, sub: string): SeatsOfUser {
  if (seatsFrom === null) {
    const condition = `l.tenant = :tenant AND ${dialect.isMember(sub)}`
    return { join: dialect.lookup('members', condition), from: 'members l', condition }
  }
  const isUser = `x.tenant = :tenant AND ${isScimUser(seatsFrom, sub)} AND x.active = 1`
  return joined(`${dialect.lookup('scim_users', isUser, 'x')} ${seatsOfGroups(dialect)}`)
}

/** The Seats of SCIM user `x`. */
export function seatsOfScimUser(dialect: Dialect): SeatsOfUser {
  return joined(seatsOfGroups(dialect))
}

function joined(join: string): SeatsOfUser {
  return { join, from: `(SELECT 1 AS one) o ${join}`, condition: '1 = 1' }
}

function seatsOfGroups(dialect: Dialect): string {
  return [
    dialect.lookup('scim_members', 'm.tenant = :tenant AND m.user_id = x.id', 'm'),
    dialect.lookup('scim_groups', 'g.tenant = :tenant AND g.id = m.group_id', 'g'),
    dialect.seatNamed('g.display_name'),
  ].join(' ')
}

/** The condition that SCIM user `x` is the user. In mode `claim`, the latest sign-in has recorded the key. */
export function isScimUser(mode: NonNullable<SeatsFrom>, sub: string): string {
  if (mode === 'userName') return `x.user_name = ${sub}`
  if (mode === 'externalId') return `x.external_id = ${sub}`
  return `x.external_id = (SELECT w.member FROM users w WHERE w.tenant = :tenant AND w.sub = ${sub})`
}

/**
 * The Seats by grants in force.
 *
 * @param sub as of {@link seatsOfUser}
 */
export function grantedSeats(dialect: Dialect, sub: string): Pick<SeatsOfUser, 'join'> {
  const condition = `l.tenant = :tenant AND ${dialect.isMember(sub)} AND ${grantIsInForce(dialect, 'l')}`
  return { join: dialect.lookup('grants', condition) }
}

/** The columns of a Seat, with the number of users who have it. */
export function listedSeatColumns(seatsFrom: SeatsFrom): string {
  return seatsFrom === null ? SEAT_COLUMNS : SEAT_COLUMNS.replace('s.member_count', ACTIVE_MEMBERS)
}

/** The active users of the group with the name of Seat `s`, whose number its writes keep up to date. */
const ACTIVE_MEMBERS = `coalesce((SELECT n.active_count FROM scim_groups n
    WHERE n.tenant = s.tenant AND n.display_name = s.name), 0) AS member_count`

/**
 * The condition that a user who is not blocked has Seat `a.id`. By SCIM, a user who never signed in counts
 * too. `:blocked` has users as `Dialect.memberOf`, `:blocked_subs` as they are.
 */
export function hasUser(dialect: Dialect, seatsFrom: SeatsFrom): string {
  const { texts, member } = dialect
  if (seatsFrom === null)
    return `EXISTS (SELECT 1 FROM members l
        WHERE l.tenant = :tenant AND l.seat_id = a.id AND ${member} NOT IN (${texts(':blocked')}))`
  return `EXISTS (SELECT 1 FROM (SELECT s.name FROM seats s WHERE s.tenant = :tenant AND s.id = a.id) o
      ${dialect.lookup('scim_groups', 'g.tenant = :tenant AND g.display_name = o.name AND g.active_count > 0', 'g')}
      ${dialect.lookup('scim_members', 'm.tenant = :tenant AND m.group_id = g.id', 'm')}
      ${dialect.lookup('scim_users', 'x.tenant = :tenant AND x.id = m.user_id', 'x')}
      WHERE x.active = 1 AND ${isUnblocked(dialect, seatsFrom)})`
}

/** The condition that a caller may be SCIM user `x`, and is not blocked. */
function isUnblocked({ texts }: Dialect, mode: NonNullable<SeatsFrom>): string {
  const blocked = texts(':blocked_subs')
  if (mode === 'userName') return `x.user_name NOT IN (${blocked})`
  const hasKey = 'x.external_id IS NOT NULL'
  if (mode === 'externalId') return `${hasKey} AND x.external_id NOT IN (${blocked})`
  const known = 'SELECT 1 FROM users w WHERE w.tenant = :tenant AND w.member = x.external_id'
  return `${hasKey}
      AND (NOT EXISTS (${known}) OR EXISTS (${known} AND w.sub NOT IN (${blocked})))`
}
