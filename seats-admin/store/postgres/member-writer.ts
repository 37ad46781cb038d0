/** Records the Seats of each user's latest sign-in. */

import { createHash } from 'node:crypto'
import type { AdminStore } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { isStorable } from './dialect.ts'
import { sql } from './sql.ts'

/** Seats deleted since the sign-in started are ignored. */
const IS_NEW = `s.tenant = :tenant AND s.id = ANY (:ids::text[]) AND NOT EXISTS (SELECT 1 FROM members m
  WHERE m.tenant = :tenant AND m.user_digest = :user_digest AND m.seat_id = s.id)`
const IS_OLD = 'tenant = :tenant AND user_digest = :user_digest AND seat_id <> ALL (:ids::text[])'

const DIFFERS = sql(
  `SELECT EXISTS (SELECT 1 FROM members WHERE ${IS_OLD}) OR EXISTS (SELECT 1 FROM seats s WHERE ${IS_NEW}) AS differs`,
)

/** Keeps `member_count` up to date, so that a page of Seats needs no counting. */
const RECORD = sql(
  `WITH gone AS (DELETE FROM members WHERE ${IS_OLD} RETURNING seat_id, -1 AS more),
     came AS (INSERT INTO members (tenant, user_digest, seat_id)
       SELECT :tenant, :user_digest, s.id FROM seats s WHERE ${IS_NEW} RETURNING seat_id, 1 AS more)
   UPDATE seats s SET member_count = s.member_count + d.more
   FROM (SELECT * FROM gone UNION ALL SELECT * FROM came) d WHERE s.tenant = :tenant AND s.id = d.seat_id`,
)

export function memberWritesOf(pools: ConnectionPools): Pick<AdminStore, 'recordMember'> {
  return {
    async recordMember(tenant, user, seatIds) {
      // The user id itself may be too long for an index or have unstorable characters.
      const user_digest = createHash('sha256').update(user).digest()
      const values = { tenant, user_digest, ids: seatIds.filter(isStorable) }
      // An unchanged sign-in needs neither the lock nor a write.
      const [row] = await pools.query(pools.administration, DIFFERS, values)
      if (row?.differs === true) await pools.write((transaction) => transaction.query(RECORD, values))
    },
  }
}
