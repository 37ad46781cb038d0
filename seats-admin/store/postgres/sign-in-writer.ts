/** Records sign-ins: the user, and the Seats in place of earlier ones. */

import { createHash } from 'node:crypto'
import { isStorableSub } from '../../model/user.ts'
import { insertUser, signInValues } from '../sign-ins.ts'
import { isStorable } from '../storable-text.ts'
import type { AdminStore } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { sql } from './sql.ts'

/** Seats deleted since the sign-in started are ignored. */
const IS_NEW = `s.tenant = :tenant AND s.id = ANY (:ids::text[]) AND NOT EXISTS (SELECT 1 FROM members m
  WHERE m.tenant = :tenant AND m.user_digest = :user_digest AND m.seat_id = s.id)`
const IS_OLD = 'tenant = :tenant AND user_digest = :user_digest AND seat_id <> ALL (:ids::text[])'

const DIFFERS = `EXISTS (SELECT 1 FROM members WHERE ${IS_OLD}) OR EXISTS (SELECT 1 FROM seats s WHERE ${IS_NEW})`

/** Without a `sub` that an index can hold, only the Seats are recorded. */
const ROW = 'SELECT :tenant, :sub, :email::text, :name::text, :at::bigint'

/** A sign-in with the Seats of the last one needs neither the lock nor a change of Seats. */
const REPEAT = sql(
  `WITH found AS MATERIALIZED (SELECT ${DIFFERS} AS differs),
     signed_in AS (${insertUser(`${ROW} FROM found WHERE NOT found.differs AND :sub::text IS NOT NULL`)})
   SELECT differs FROM found`,
)

/** Keeps `member_count` up to date, so that a page of Seats needs no counting. */
const RECORD = sql(
  `WITH signed_in AS (${insertUser(`${ROW} WHERE :sub::text IS NOT NULL`)}),
     gone AS (DELETE FROM members WHERE ${IS_OLD} RETURNING seat_id, -1 AS more),
     came AS (INSERT INTO members (tenant, user_digest, seat_id)
       SELECT :tenant, :user_digest, s.id FROM seats s WHERE ${IS_NEW} RETURNING seat_id, 1 AS more)
   UPDATE seats s SET member_count = s.member_count + d.more
   FROM (SELECT * FROM gone UNION ALL SELECT * FROM came) d WHERE s.tenant = :tenant AND s.id = d.seat_id`,
)

export function signInWritesOf(pools: ConnectionPools): Pick<AdminStore, 'recordSignIn'> {
  return {
    async recordSignIn(tenant, user, seatIds) {
      const values = {
        ...signInValues(tenant, user),
        sub: isStorableSub(user.sub) ? user.sub : null,
        // An index can hold no longer key, and any `sub` counts as a member.
        user_digest: createHash('sha256').update(user.sub).digest(),
        ids: seatIds.filter(isStorable),
      }
      const [row] = await pools.query(pools.signIns, REPEAT, values)
      if (row?.differs === true) await pools.write((transaction) => transaction.query(RECORD, values))
    },
  }
}
