/** The queries that find who could administer a tenant. */

import type { SeatsFrom } from '../model/seats-from.ts'
import { administrating, type Dialect } from './rows.ts'
import { hasUser } from './seats-of-users.ts'

/**
 * A row if an API key in force whose owner is not blocked, or if a user who is not blocked, holds
 * a Seat that administrates the tenant. The index finds these Seats: a tenant has few. Keys come first: users
 * and blocks of users matter only if no key decides.
 */
export function administrationQueries(dialect: Dialect) {
  const { administrators, position, texts, clock } = dialect
  // A block and an owner have the same digest of the `sub`.
  const keysOf = (seat: string, isExcluded: string) =>
    `EXISTS (SELECT 1 FROM api_key_seats ks JOIN api_keys k ON k.tenant = ks.tenant AND k.id = ks.api_key_id
        WHERE ks.tenant = :tenant AND ks.seat_id = ${seat} AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > :now) AND NOT (${isExcluded})
          AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.tenant = :tenant AND b.sub_digest = k.owner_digest
            AND (b.until IS NULL OR b.until > ${clock})))`
  const isNamed = `k.id IN (${texts(':revoked')}) OR coalesce(k.owner, '') IN (${texts(':owners')})`
  const seats = `SELECT id FROM ${administrators} WHERE tenant = :tenant AND ${administrating(dialect)}
      AND ${position('spaces', ':listed')} > 0 AND id NOT IN (${texts(':without')})
    UNION ALL SELECT id FROM seats WHERE tenant = :tenant AND id IN (${texts(':also')})`
  return {
    administratingKey: `SELECT 1 AS one FROM (${seats}) a
      WHERE ${keysOf('a.id', isNamed)} LIMIT 1`,
    // Without a table of a JSON array, to set up which takes most of the time of this query. Ids all have the
    // same length.
    administratingKeyBesides: `SELECT 1 AS one FROM ${administrators} WHERE tenant = :tenant AND ${administrating(dialect)}
      AND ${position('spaces', ':listed')} > 0 AND ${position(':without', 'seats.id')} = 0
      AND ${keysOf('seats.id', `coalesce(k.owner, 'none') = :blocked_owner`)} LIMIT 1`,
    administratingUser: (seatsFrom: SeatsFrom) =>
      `SELECT 1 AS one FROM (${seats}) a WHERE ${hasUser(dialect, seatsFrom)} LIMIT 1`,
  }
}
