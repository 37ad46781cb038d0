/** Users as rows of the store, with the Seats of their sign-ins and their grants. */

import type { User } from '../model/user.ts'
import { type Dialect, integer, integerOrNull, type Row, text, textOrNull } from './rows.ts'
import { grantIsInForce, grantsColumn, heldGrants } from './seat-grant-queries.ts'

/**
 * The user's `sub` is the column `id`. Includes the names of the Seats of the latest sign-in as JSON, and the
 * grants in force.
 *
 * @param which a further condition on these Seats: `AND …` on `l` and `s`
 */
export function userColumns(dialect: Dialect, which = ''): string {
  const { list, isMember } = dialect
  const ofUser = `l.tenant = u.tenant AND ${isMember('u.sub')} ${which}`
  return `u.sub AS id, u.email, u.name, u.last_sign_in, u.groups_left_out, (SELECT ${list('s.name', 's.name')}
   FROM members l JOIN seats s ON s.tenant = l.tenant AND s.id = l.seat_id WHERE ${ofUser}) AS seats,
   ${grantsColumn(dialect, ofUser)}`
}

/**
 * The tables with Seats of users, each with a condition on its row `l`: the latest sign-ins, and the grants in
 * force. Both have {@link Dialect.memberColumn}.
 */
export function seatsOfUsers(dialect: Dialect): readonly (readonly [table: string, condition: string])[] {
  return [
    ['members', '1 = 1'],
    ['grants', grantIsInForce(dialect, 'l')],
  ]
}

export function user(row: Row): User {
  const grants = heldGrants(row)
  return {
    sub: text(row, 'id'),
    email: textOrNull(row, 'email'),
    name: textOrNull(row, 'name'),
    lastSignIn: integerOrNull(row, 'last_sign_in'),
    seats: JSON.parse(text(row, 'seats')),
    ...(grants.length === 0 ? {} : { grants }),
    ...(integer(row, 'groups_left_out') === 1 ? { areGroupsLeftOut: true } : {}),
  }
}
