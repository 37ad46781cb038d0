/** Users as rows of the store, with their Seats and their grants. */

import type { SeatsFrom } from '../model/seats-from.ts'
import type { User } from '../model/user.ts'
import { type Dialect, integer, integerOrNull, type Row, text, textOrNull } from './rows.ts'
import { grantsColumn, heldGrants } from './seat-grant-queries.ts'
import { seatsOfUser } from './seats-of-users.ts'

/**
 * The user's `sub` is the column `id`. Includes the names of the Seats as JSON, and the grants in force.
 *
 * @param which a further condition on these Seats: `AND …` on `l` and `s`
 */
export function userColumns(dialect: Dialect, seatsFrom: SeatsFrom, which = ''): string {
  const { list, isMember } = dialect
  const { from, condition } = seatsOfUser(dialect, seatsFrom, 'u.sub')
  return `u.sub AS id, u.email, u.name, u.last_sign_in, u.groups_left_out, u.member, (SELECT ${list('s.name', 's.name')}
   FROM ${from} JOIN seats s ON s.tenant = l.tenant AND s.id = l.seat_id WHERE ${condition} ${which}) AS seats,
   ${grantsColumn(dialect, `l.tenant = u.tenant AND ${isMember('u.sub')} ${which}`)}`
}

export function user(row: Row): User {
  const grants = heldGrants(row)
  const member = textOrNull(row, 'member')
  return {
    sub: text(row, 'id'),
    email: textOrNull(row, 'email'),
    name: textOrNull(row, 'name'),
    lastSignIn: integerOrNull(row, 'last_sign_in'),
    seats: JSON.parse(text(row, 'seats')),
    ...(grants.length === 0 ? {} : { grants }),
    ...(member === null ? {} : { member }),
    ...(integer(row, 'groups_left_out') === 1 ? { areGroupsLeftOut: true } : {}),
  }
}
