/** Which Seats each user's latest sign-in carried. */

import { createHash } from 'node:crypto'
import type { Connection } from './connection.ts'
import { isStorable } from './dialect.ts'
import { sql, type Values } from './sql.ts'
import type { Transaction } from './transaction.ts'

/** Seats that are gone since the sign-in began, or never were, add nothing. */
const IS_NEW = `s.tenant = :tenant AND s.id = ANY (:ids::text[]) AND NOT EXISTS (SELECT 1 FROM members m
  WHERE m.tenant = :tenant AND m.user_digest = :user_digest AND m.seat_id = s.id)`
const IS_OLD = 'tenant = :tenant AND user_digest = :user_digest AND seat_id <> ALL (:ids::text[])'

const DIFFERS = sql(
  `SELECT EXISTS (SELECT 1 FROM members WHERE ${IS_OLD}) OR EXISTS (SELECT 1 FROM seats s WHERE ${IS_NEW}) AS differs`,
)

/** Members are counted as they come and go: a page of Seats costs the same however many they have. */
const RECORD = sql(
  `WITH gone AS (DELETE FROM members WHERE ${IS_OLD} RETURNING seat_id, -1 AS more),
     came AS (INSERT INTO members (tenant, user_digest, seat_id)
       SELECT :tenant, :user_digest, s.id FROM seats s WHERE ${IS_NEW} RETURNING seat_id, 1 AS more)
   UPDATE seats s SET member_count = s.member_count + d.more
   FROM (SELECT * FROM gone UNION ALL SELECT * FROM came) d WHERE s.tenant = :tenant AND s.id = d.seat_id`,
)

/** A user's name may be longer than an index takes, and have characters that text does not. */
export function memberValues(tenant: string, user: string, seatIds: readonly string[]): Values {
  const user_digest = createHash('sha256').update(user).digest()
  return { tenant, user_digest, ids: seatIds.filter(isStorable) }
}

/** A sign-in like the last one need not wait for its turn, nor for the disk. */
export async function membersDiffer(connection: Connection, values: Values): Promise<boolean> {
  const [row] = await connection.ask(DIFFERS, values)
  return row?.differs === true
}

export async function recordMember(transaction: Transaction, values: Values): Promise<void> {
  await transaction.ask(RECORD, values)
}
