/** `seatgate audit`: lists, exports and verifies the record of changes in the store. */

import {
  type AuditEntry,
  auditEntry,
  type AuditHead,
  AuditVerifier,
  parseDateTime,
  type Store,
} from '../../seats-admin/index.ts'
import { AUDIT_ACTIONS } from '../../seats-admin/model/audit.ts'
import { UsageError } from './arguments.ts'
import { auditTable, verifiedText } from './audit-output.ts'
import { CommandFailed, configOf, defineCommand, type Terminal, tenantOf } from './command.ts'
import { openExistingStore } from './existing-store.ts'
import { CONFIG, JSON_OUTPUT, TENANT } from './options.ts'

const TAMPERED = 3
/** Entries of one reading. */
const READ = 100
const DEFAULT_LIMIT = 20
const MOST = 10_000

/** What goes with one of the three only. */
const FILTERS = ['limit', 'since', 'until', 'action', 'actor', 'target'] as const

export const audit = defineCommand(
  {
    name: 'audit',
    summary: 'Lists, exports or verifies who changed which Seat or API key, from what to what.',
    details:
      '`list` prints the newest entries first, `export` all of them as JSON, one a line, from the oldest on. `verify` finds entries that were changed, dropped, inserted or moved, and a chain that was cut at either end.',
    positionals: [
      { name: 'ACTION', description: 'list, export or verify', choices: ['list', 'export', 'verify'] },
    ],
    options: {
      tenant: { ...TENANT, required: true },
      limit: {
        type: 'string',
        value: 'N',
        description: `list: at most N entries, ${DEFAULT_LIMIT} by default`,
      },
      since: { type: 'string', value: 'TIME', description: 'list: from this time on (RFC 3339)' },
      until: { type: 'string', value: 'TIME', description: 'list: before this time' },
      action: {
        type: 'string',
        value: 'A',
        description: 'list: of this action, such as seat.update',
        choices: AUDIT_ACTIONS,
        completes: AUDIT_ACTIONS,
      },
      actor: { type: 'string', value: 'ID', description: 'list: by the user or API key of this id' },
      target: { type: 'string', value: 'ID', description: 'list: of the Seat or API key of this id' },
      head: {
        type: 'string',
        value: 'SEQ:HASH',
        description: 'verify: an entry that must be there, such as seatgate_audit_head in the log of a start',
      },
      config: CONFIG,
      json: JSON_OUTPUT,
    },
    exits: {
      0: 'done; verify: every entry is the one that was written, and none is missing',
      1: 'the configuration has faults, the tenant is unknown, or the store cannot be read',
      3: 'verify: an entry was changed, or is missing',
    },
    example: 'seatgate audit verify --tenant acme',
  },
  async ({ values, positionals: [action = ''] }, terminal) => {
    for (const name of FILTERS)
      if (values[name] !== undefined && action !== 'list') throw new UsageError(`--${name} goes with list`)
    if (values.head !== undefined && action !== 'verify') throw new UsageError('--head goes with verify')
    const filter = {
      limit: limitOf(values.limit),
      since: timeOf('since', values.since),
      until: timeOf('until', values.until),
      action: values.action ?? null,
      actor: values.actor ?? null,
      target: values.target ?? null,
    }
    const head = headOf(values.head)
    const config = await configOf(values, terminal)
    const { id: tenant, adminSpace: space } = tenantOf(config, values.tenant)
    const store = await openExistingStore(config)
    try {
      if (action === 'export') return await exported(store, tenant, terminal)
      if (action === 'verify') return await verified(store, tenant, { head, json: values.json }, terminal)
      const scope = { space, admin: true, all: true, permissions: [] }
      const found = await listed(store, tenant, { ...filter, after: null, scope })
      await terminal.print(values.json ? JSON.stringify(found) : auditTable(found.data, found.has_more))
      return 0
    } finally {
      await store.close()
    }
  },
)

type Page = Parameters<Store['audit']['list']>[1]

/** A page of the store ends earlier where its entries are large. */
async function listed({ audit: entries }: Store, tenant: string, page: Page) {
  const data: AuditEntry[] = []
  for (let after: string | null = null; ;) {
    const limit = Math.min(READ, page.limit - data.length)
    const found = await entries.list(tenant, { ...page, after, limit })
    data.push(...found.data)
    if (!found.hasMore || data.length >= page.limit) return { data, has_more: found.hasMore }
    after = data.at(-1)?.id ?? null
  }
}

async function exported({ audit: entries }: Store, tenant: string, terminal: Terminal): Promise<number> {
  for (let after = ''; ;) {
    const { rows } = await entries.chain(tenant, after, READ)
    if (rows.length === 0) return 0
    const lines = rows.map((row) => JSON.stringify(readable(row)))
    await terminal.print(lines.join('\n'))
    after = String(rows.at(-1)?.id)
  }
}

function readable(row: Parameters<typeof auditEntry>[0]): AuditEntry {
  try {
    return auditEntry(row)
  } catch {
    throw new CommandFailed(
      `entry ${String(row.seq)} can't be read: seatgate audit verify says what is wrong`,
    )
  }
}

async function verified(
  { audit: entries }: Store,
  tenant: string,
  { head, json = false }: { head: AuditHead | null; json?: boolean | undefined },
  terminal: Terminal,
): Promise<number> {
  const verifier = new AuditVerifier(head)
  while (verifier.verify(await entries.chain(tenant, verifier.after, READ))) continue
  const { findings, count, newest, start: first } = verifier
  const result = {
    tenant,
    intact: count === 0,
    entries: verifier.entries,
    first,
    head: newest,
    count,
    findings,
  }
  await terminal.print(json ? JSON.stringify(result) : verifiedText(result))
  return count === 0 ? 0 : TAMPERED
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT
  if (/^[1-9][0-9]*$/.test(text) && Number(text) <= MOST) return Number(text)
  throw new UsageError(`--limit is not a number from 1 to ${MOST}`)
}

function timeOf(name: string, text: string | undefined): number | null {
  const time = text === undefined ? null : parseDateTime(text)
  if (text === undefined || time !== null) return time
  throw new UsageError(`--${name} is not a date-time with an offset, such as 2026-11-21T11:00:00Z`)
}

function headOf(text: string | undefined): AuditHead | null {
  if (text === undefined) return null
  const [, seq, hash = ''] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined) throw new UsageError('--head is not a number, a colon and 64 hexadecimal digits')
  return { seq: Number(seq), hash }
}
