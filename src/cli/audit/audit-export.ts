/** `seatgate audit export`, which reads the store. */

import { auditEntry, type AuditEntry, type Store } from '../../../seats-admin/index.ts'
import { loadConfig } from '../../config/load.ts'
import { CONFIG, TENANTS } from '../arguments.ts'
import { CommandFailed, defineCommand, tenantIdsOf, type Terminal } from '../command.ts'
import { withStore } from '../existing-store.ts'

/** The number of entries that are read at once. */
const READ = 100

export const exportAudit = defineCommand({
  name: 'audit export',
  summary: 'Prints all entries of the audit as JSON, one per line, oldest first.',
  options: { tenant: TENANTS, config: CONFIG },
  exits: {
    0: 'done',
    1: 'the configuration has faults, the tenant is unknown, or the store cannot be read',
  },
  example: 'seatgate audit export > audit.jsonl',
  run: async ({ values }, terminal) => {
    const config = await loadConfig(values.config, terminal.env)
    const tenants = tenantIdsOf(config, values.tenant)
    await withStore(config, terminal, async (store) => {
      for (const tenant of tenants) await exportTenant(store, tenant, terminal)
    })
  },
})

async function exportTenant({ audit }: Store, tenant: string, terminal: Terminal): Promise<void> {
  for (let after = ''; ;) {
    const { rows } = await audit.chain(tenant, after, READ)
    if (rows.length === 0) return
    await terminal.print(rows.map((row) => JSON.stringify(readable(row))).join('\n'))
    after = String(rows.at(-1)?.id)
  }
}

function readable(row: Parameters<typeof auditEntry>[0]): AuditEntry {
  try {
    return auditEntry(row)
  } catch {
    throw new CommandFailed(
      `entry ${String(row.seq)} cannot be read: seatgate audit verify says what is wrong`,
    )
  }
}
