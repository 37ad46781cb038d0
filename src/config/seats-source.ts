/** What gives the users of each tenant their Seats, for questions to the store. */

import type { SeatsFrom } from '../../seats-admin/model/seats-from.ts'
import type { Config } from './config.ts'

/**
 * @returns null for tenants that the configuration does not have, as for those whose provider names the Seats
 */
export function seatsFromOf({ tenants }: Pick<Config, 'tenants'>): (tenant: string) => SeatsFrom {
  return (id) => {
    const tenant = tenants.get(id)
    return tenant?.seatsFrom === 'scim' ? (tenant.scim?.user.mode ?? null) : null
  }
}
