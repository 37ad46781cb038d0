/** The tenants of a command that reads the audit in the store. */

import type { Config } from '../../config/config.ts'
import { tenantOf } from '../command.ts'
import { TENANT } from '../shared-options.ts'

export const AUDITED = { ...TENANT, description: 'id of a tenant; by default, all tenants' } as const

/** Ids. @throws CommandFailed when the tenant is unknown */
export function auditedTenants(config: Config, tenant: string | undefined): string[] {
  return tenant === undefined ? [...config.tenants.keys()].sort() : [tenantOf(config, tenant).id]
}
