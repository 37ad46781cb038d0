/** `seatgate audit list`, which asks a gateway or reads the store. */

import type { AuditEntry, Store } from '../../../seats-admin/index.ts'
import { AUDIT_ACTIONS } from '../../../seats-admin/model/audit.ts'
import { loadConfig } from '../../config/load.ts'
import { CONFIG, JSON_OUTPUT, TENANT, UsageError } from '../arguments.ts'
import { defineCommand, tenantOf, type Terminal } from '../command.ts'
import { withStore } from '../existing-store.ts'
import { collected, DEFAULT_LIMIT, limitOf, type Listed } from '../limited-list.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { type Column, shortTime, tableLines } from '../remote/list-output.ts'
import { pastMoment } from '../remote/moment.ts'

const MOST = 10_000

export const listAudit = defineCommand({
  name: 'audit list',
  summary: 'Lists who changed which Seat, API key, block or session, newest entries first.',
  details: 'It reads the audit from a gateway or, with --tenant, from the store in the configuration.',
  options: {
    tenant: {
      ...TENANT,
      description: 'id of a tenant in the configuration: reads its store instead of asking a gateway',
    },
    limit: { value: 'N', description: `at most N entries, ${DEFAULT_LIMIT} by default` },
    since: {
      value: 'TIME',
      description: 'only from this time on: a duration such as 10m (ago), or a date-time',
    },
    until: { value: 'TIME', description: 'only before this time, in the same form' },
    action: {
      value: 'A',
      description: 'only this action, such as seat.update',
      choices: AUDIT_ACTIONS,
      completes: AUDIT_ACTIONS,
    },
    actor: {
      value: 'NAME',
      description:
        'only changes by this user, API key or command: an id, or the name or email address it had',
    },
    target: {
      value: 'NAME',
      description: 'only changes to this Seat, API key, user or session: an id, or the name it had',
    },
    config: CONFIG,
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'done',
    1: 'the gateway refused the request or could not be reached; with --tenant: the configuration has faults, the tenant is unknown, or the store cannot be read',
  },
  example: 'seatgate audit list --action seat.update --limit 5',
  run: async ({ values }, terminal) => {
    const filter: Filter = {
      limit: limitOf(values.limit, MOST),
      since: timeOf('since', values.since),
      until: timeOf('until', values.until),
      action: values.action ?? null,
      actor: nameOf('actor', values.actor),
      target: nameOf('target', values.target),
    }
    if (values.tenant !== undefined && values.url !== undefined)
      throw new UsageError('--tenant reads a store, and --url asks a gateway: give one')
    const entries =
      values.tenant === undefined
        ? await withGateway(values, terminal, (gateway) => ofGateway(gateway, filter))
        : await ofStore(values.config, values.tenant, filter, terminal)
    await terminal.print(values.json ? JSON.stringify(entries) : auditTable(entries, terminal.columns))
  },
})

/** The name of a filter. An empty one is refused: it has no entries, as if the actor or target had none. */
function nameOf(option: string, value: string | undefined): string | null {
  if (value === '') throw new UsageError(`--${option} is empty`)
  return value ?? null
}

type Page = Parameters<Store['audit']['list']>[1]
type Filter = Omit<Page, 'after' | 'scope'>

async function ofGateway(gateway: Gateway, filter: Filter): Promise<Listed<AuditEntry>> {
  const textOf = (time: number | null) => (time === null ? null : new Date(time).toISOString())
  const query = { ...filter, since: textOf(filter.since), until: textOf(filter.until) }
  return collected(filter.limit, (limit, after) => gateway.get('/v1/audit', { ...query, limit, after }))
}

async function ofStore(
  file: string,
  tenant: string,
  filter: Filter,
  terminal: Terminal,
): Promise<Listed<AuditEntry>> {
  const config = await loadConfig(file, terminal.env)
  const { id, adminSpace: space } = tenantOf(config, tenant)
  const scope = { space, admin: true, all: true, permissions: [] }
  return withStore(config, terminal, (store) =>
    collected(filter.limit, async (limit, after) => {
      const { data, hasMore } = await store.audit.list(id, { ...filter, after, limit, scope })
      return { data, has_more: hasMore }
    }),
  )
}

function timeOf(name: string, text: string | undefined): number | null {
  return text === undefined ? null : pastMoment(`--${name}`, text)
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { name: 'seq', width: 7, of: ({ seq }) => `${seq}` },
  { name: 'at', width: 20, of: ({ at }) => shortTime(at) },
  { name: 'action', width: 14, of: ({ action }) => action },
  { name: 'actor', width: 16, of: ({ actor }) => actor.name ?? actor.id },
  { name: 'target', width: 15, of: ({ target }) => target.name ?? target.id },
]

/** The entries as a table. @param room characters of a line */
function auditTable({ data, has_more }: Listed<AuditEntry>, room: number): string {
  if (data.length === 0) return 'no entries'
  const more = has_more ? ['… and older ones: --limit, --until or --json'] : []
  return [...tableLines(COLUMNS, room)(data), ...more].join('\n')
}
