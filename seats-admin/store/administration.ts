/** SQL, shared by both drivers, of the question who could administer a tenant, and its parameters. */

import { administrating, type Dialect } from './rows.ts'
import type { Administration } from './store.ts'

/**
 * A row if an API key in force, or a user who signed in and is not blocked, holds a Seat that administrates the tenant. The
 * index finds these Seats, of which a tenant has few.
 */
export function administrationQuery(dialect: Dialect): string {
  const { administrators, position, texts, member } = dialect
  return `SELECT 1 AS one FROM (
      SELECT id FROM ${administrators} WHERE tenant = :tenant AND ${administrating(dialect)}
        AND ${position('spaces', ':listed')} > 0 AND id NOT IN (${texts(':without')})
      UNION SELECT id FROM seats WHERE tenant = :tenant AND id IN (${texts(':also')})
    ) a WHERE EXISTS (SELECT 1 FROM api_key_seats ks JOIN api_keys k ON k.tenant = ks.tenant AND k.id = ks.api_key_id
        WHERE ks.tenant = :tenant AND ks.seat_id = a.id AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > :now) AND k.id NOT IN (${texts(':revoked')}))
      OR EXISTS (SELECT 1 FROM members l
        WHERE l.tenant = :tenant AND l.seat_id = a.id AND ${member} NOT IN (${texts(':blocked')}))
    LIMIT 1`
}

/** The parameters of {@link administrationQuery}. */
export function administrationValues(
  { memberOf }: Dialect,
  tenant: string,
  { space, now, without, also, revoked, blocked }: Administration,
) {
  return {
    tenant,
    now,
    listed: JSON.stringify(space),
    without: JSON.stringify(without),
    also: JSON.stringify(also),
    revoked: JSON.stringify(revoked),
    blocked: JSON.stringify(blocked.map(memberOf)),
  }
}
