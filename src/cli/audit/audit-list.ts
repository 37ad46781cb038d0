/** `seatgate audit list`: from a gateway, or from the store. */

import { type AuditEntry, type Store } from '../../../seats-admin/index.ts'
import { AUDIT_ACTIONS } from '../../../seats-admin/model/audit.ts'
import { UsageError } from '../arguments.ts'
import { configOf, defineCommand, type Terminal, tenantOf } from '../command.ts'
import { openExistingStore } from '../existing-store.ts'
import { CONFIG, JSON_OUTPUT, TENANT } from '../shared-options.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { pastMoment } from '../remote/moment.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { auditTable } from './audit-output.ts'

/** Entries of one reading. */
const READ = 100
const DEFAULT_LIMIT = 20
const MOST = 10_000

export const listAudit = defineCommand(
  {
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
  },
  async ({ values }, terminal) => {
    const filter: Filter = {
      limit: limitOf(values.limit),
      since: timeOf('since', values.since),
      until: timeOf('until', values.until),
      action: values.action ?? null,
      actor: nameOf('actor', values.actor),
      target: nameOf('target', values.target),
    }
    if (values.tenant !== undefined && values.url !== undefined)
      throw new UsageError('--tenant reads a store, and --url asks a gateway: give one')
    const { tenant } = values
    const { data, has_more } =
      tenant === undefined
        ? await withGateway(values, terminal, (gateway) => ofGateway(gateway, filter))
        : await ofStore({ tenant, config: values.config }, filter, terminal)
    await terminal.print(
      values.json ? JSON.stringify({ data, has_more }) : auditTable(data, has_more, terminal.columns),
    )
  },
)

/** An empty name has no entries, which would read as if there were none of the one that is meant. */
function nameOf(option: string, value: string | undefined): string | null {
  if (value === '') throw new UsageError(`--${option} is empty`)
  return value ?? null
}

type Page = Parameters<Store['audit']['list']>[1]
type Filter = Omit<Page, 'after' | 'scope'>

interface Listed {
  readonly data: readonly AuditEntry[]
  readonly has_more: boolean
}

async function ofGateway(gateway: Gateway, filter: Filter): Promise<Listed> {
  const { since, until, action, actor, target } = filter
  const query = { action, actor, target, since: textOf(since), until: textOf(until) }
  return collected(filter.limit, (limit, after) =>
    gateway.get<Listed>('/v1/audit', { ...query, limit, after }),
  )
}

function textOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

async function ofStore(
  given: { readonly tenant: string; readonly config: string },
  filter: Filter,
  terminal: Terminal,
): Promise<Listed> {
  const config = await configOf(given, terminal)
  const { id, adminSpace: space } = tenantOf(config, given.tenant)
  const store = await openExistingStore(config)
  const scope = { space, admin: true, all: true, permissions: [] }
  try {
    return await collected(filter.limit, async (limit, after) => {
      const { data, hasMore } = await store.audit.list(id, { ...filter, after, limit, scope })
      return { data, has_more: hasMore }
    })
  } finally {
    await store.close()
  }
}

/** A page ends earlier where its entries are large. */
async function collected(
  most: number,
  page: (limit: number, after: string | null) => Promise<Listed>,
): Promise<Listed> {
  const data: AuditEntry[] = []
  for (let after: string | null = null; ;) {
    const found: Listed = await page(Math.min(READ, most - data.length), after)
    data.push(...found.data)
    if (!found.has_more || data.length >= most) return { data, has_more: found.has_more }
    after = data.at(-1)?.id ?? null
  }
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT
  if (/^[1-9][0-9]*$/.test(text) && Number(text) <= MOST) return Number(text)
  throw new UsageError(`--limit is not a number from 1 to ${MOST}`)
}

function timeOf(name: string, text: string | undefined): number | null {
  return text === undefined ? null : pastMoment(`--${name}`, text)
}
