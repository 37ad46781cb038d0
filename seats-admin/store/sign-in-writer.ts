/** Records sign-ins: the user, and the Seats in place of earlier ones. */

import { isStorableSub } from '../model/user.ts'
import type { Database } from './database.ts'
import { type Dialect, text } from './rows.ts'
import { isStorable, replaceUnstorable } from './storable-text.ts'
import type { AdminStore } from './store.ts'

/** Seats that were deleted since the sign-in started are ignored. */
function signInQueries({ texts, memberColumn }: Dialect) {
  const own = `m.tenant = :tenant AND m.${memberColumn} = :member`
  const isNew = `s.tenant = :tenant AND s.id IN (${texts(':ids')})
    AND NOT EXISTS (SELECT 1 FROM members m WHERE ${own} AND m.seat_id = s.id)`
  const differs = `(EXISTS (SELECT 1 FROM members m WHERE ${own} AND m.seat_id NOT IN (${texts(':ids')}))
    OR EXISTS (SELECT 1 FROM seats s WHERE ${isNew}))`
  // Without a `sub` that an index can hold, only the Seats are recorded.
  const user = 'SELECT :tenant, :sub, :email, :name, :at, :groups_left_out WHERE :is_listed = 1'
  return {
    insertUser: insertUser(user),
    insertKnownUser: insertUser(`${user} AND NOT ${differs}`),
    differs: `SELECT CASE WHEN ${differs} THEN 1 ELSE 0 END AS differs`,
    seats: `SELECT m.seat_id FROM members m WHERE ${own}`,
    remove: `DELETE FROM members WHERE tenant = :tenant AND ${memberColumn} = :member AND seat_id IN (${texts(':gone')})`,
    add: `INSERT INTO members (tenant, ${memberColumn}, seat_id)
      SELECT :tenant, :member, s.id FROM seats s WHERE s.tenant = :tenant AND s.id IN (${texts(':come')})`,
    // Kept up to date, so that a page of Seats needs no counting.
    count: `UPDATE seats SET member_count = member_count + CASE WHEN id IN (${texts(':come')}) THEN 1 ELSE -1 END
      WHERE tenant = :tenant AND (id IN (${texts(':come')}) OR id IN (${texts(':gone')}))`,
  }
}

export function signInWriter({ dialect, unnumbered, write }: Database) {
  const queries = signInQueries(dialect)
  return {
    async recordSignIn(tenant, user, seatIds) {
      const after = new Set(seatIds.filter(isStorable))
      const isListed = isStorableSub(user.sub)
      const values = {
        tenant,
        email: user.email === null ? null : replaceUnstorable(user.email),
        name: user.name === null ? null : replaceUnstorable(user.name),
        at: user.at,
        groups_left_out: Number(user.areGroupsLeftOut === true),
        sub: isListed ? user.sub : '',
        is_listed: Number(isListed),
        member: dialect.memberKey(user.sub),
        ids: JSON.stringify([...after]),
      }
      // A sign-in with the Seats of the last one needs neither the lock nor a change of Seats.
      const [row] = await unnumbered.modify([queries.insertKnownUser], queries.differs, values)
      if (row?.differs === 0) return
      await write(null, async (transaction) => {
        const rows = await transaction.all(queries.seats, values)
        const before = new Set(rows.map((each) => text(each, 'seat_id')))
        const [come, gone] = [[...after.difference(before)], [...before.difference(after)]]
        const differences = { come: JSON.stringify(come), gone: JSON.stringify(gone) }
        const parts = [queries.insertUser, queries.remove, queries.add, queries.count]
        await transaction.modify(parts, { ...values, ...differences })
      })
    },
  } satisfies Partial<AdminStore>
}

/**
 * Inserts or updates a user. The same sign-in once more, or a late one, changes nothing.
 *
 * @param source the row: `VALUES …` or `SELECT …`
 */
function insertUser(source: string): string {
  return `INSERT INTO users AS u (tenant, sub, email, name, last_sign_in, groups_left_out) ${source}
    ON CONFLICT (tenant, sub) DO UPDATE SET email = excluded.email, name = excluded.name,
      last_sign_in = excluded.last_sign_in, groups_left_out = excluded.groups_left_out
    WHERE u.last_sign_in IS NULL OR u.last_sign_in < excluded.last_sign_in`
}
