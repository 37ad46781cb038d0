/** `seatgate audit export`, on the store. */

import { type AuditEntry, auditEntry } from '../../../seats-admin/index.ts'
import { CommandFailed, configOf, defineCommand, tenantOf } from '../command.ts'
import { openExistingStore } from '../existing-store.ts'
import { CONFIG, TENANT } from '../options.ts'

/** Entries of one reading. */
const READ = 100

export const exportAudit = defineCommand(
  {
    name: 'audit export',
    summary: 'Prints all entries of the audit as JSON, one a line, from the oldest on.',
    options: { tenant: { ...TENANT, required: true }, config: CONFIG },
    exits: {
      0: 'done',
      1: 'the configuration has faults, the tenant is unknown, or the store cannot be read',
    },
    example: 'seatgate audit export --tenant acme > audit.jsonl',
  },
  async ({ values }, terminal) => {
    const config = await configOf(values, terminal)
    const { id: tenant } = tenantOf(config, values.tenant)
    const store = await openExistingStore(config)
    try {
      for (let after = ''; ;) {
        const { rows } = await store.audit.chain(tenant, after, READ)
        if (rows.length === 0) return
        await terminal.print(rows.map((row) => JSON.stringify(readable(row))).join('\n'))
        after = String(rows.at(-1)?.id)
      }
    } finally {
      await store.close()
    }
  },
)

function readable(row: Parameters<typeof auditEntry>[0]): AuditEntry {
  try {
    return auditEntry(row)
  } catch {
    throw new CommandFailed(
      `entry ${String(row.seq)} can't be read: seatgate audit verify says what is wrong`,
    )
  }
}
