/**
 * `seatgate grants review`: who has what, as a file for an auditor, and what the auditor has marked in it.
 */

import { readFile } from 'node:fs/promises'
import type { AuditEntry } from '../../../seats-admin/index.ts'
import { loadConfig } from '../../config/load.ts'
import { printable } from '../../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT, UsageError } from '../arguments.ts'
import { CommandFailed, defineCommand, messageOf, tenantOf, type Terminal } from '../command.ts'
import { withStore } from '../existing-store.ts'
import { withNewFile } from '../new-file.ts'
import { confirm, confirmChange, YES } from '../remote/administration-prompt.ts'
import type { ApiKeyView, GrantView } from '../remote/endpoint-answers.ts'
import { idOf } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { shortTime, tableLines } from '../remote/list-output.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { plural } from '../screen.ts'
import { refuseBoth, STORE_TENANT } from './grants-commands.ts'
import { type Marked, markedIn, ReviewFault, reviewLines, shortened } from './review-rows.ts'
import { ofGateway, ofStore, type ReviewSource } from './review-source.ts'

export const reviewGrants = defineCommand({
  name: 'grants review',
  summary:
    'Lists who has which Seat by group, grant or API key, as a file; or takes away what is marked in one.',
  details:
    'The file is a CSV file with a row for each Seat of a user or an API key. An x in the column remove marks a grant or an API key; a Seat by a group is taken away at the identity provider. --apply shows what it takes away, and asks. If a marked row does not fit what there is now, nothing is taken away. The caller needs seats:list, users:list, grants:list and api-keys:list, and to apply grants:delete, api-keys:read, api-keys:delete and, of grants that have ended, audit:list.',
  options: {
    export: { value: 'FILE', description: 'writes the list to this new file', completes: 'file' },
    apply: {
      value: 'FILE',
      description: 'takes away the grants and API keys that are marked in this file',
      completes: 'file',
    },
    tenant: STORE_TENANT,
    config: CONFIG,
    ...REMOTE,
    yes: YES,
    json: JSON_OUTPUT,
  },
  alternatives: [['export'], ['apply']],
  exits: {
    0: 'the file was written; or all that is marked is taken away: no instance decides on the old state any more',
    1: 'the file cannot be written or read, a marked row does not fit, or the gateway refused a request or could not be reached; nothing was taken away, unless the message says so',
  },
  example: 'seatgate grants review --export review.csv',
  run: async ({ values }, terminal) => {
    const { export: out, apply: from, tenant, json } = values
    if (out === undefined && from === undefined) throw new UsageError('--export or --apply is required')
    refuseBoth(values)
    if (from !== undefined && tenant !== undefined)
      throw new UsageError(
        '--apply needs a gateway, not --tenant: the gateway makes sure that all instances know',
      )
    if (from !== undefined) {
      const marked = await readMarked(from)
      return withGateway(values, terminal, (gateway) =>
        apply(gateway, { marked, file: from }, values, terminal),
      )
    }
    const write = (source: ReviewSource) => exportTo(out ?? '', source, json, terminal)
    if (tenant === undefined) return withGateway(values, terminal, (gateway) => write(ofGateway(gateway)))
    const config = await loadConfig(values.config, terminal.env)
    const { id } = tenantOf(config, tenant)
    return withStore(config, terminal, (store) => write(ofStore(store, id)))
  },
})

async function exportTo(
  path: string,
  source: ReviewSource,
  json: boolean | undefined,
  terminal: Terminal,
): Promise<void> {
  const options = { option: '--export', refusal: 'nothing is exported', mode: 0o600 }
  await withNewFile(path, options, async (write) => {
    const lines = await Array.fromAsync(reviewLines(source, Date.now()))
    await write?.(lines.join(''), '')
    const rows = lines.length - 1
    await terminal.print(
      json ? JSON.stringify({ file: path, rows }) : `wrote ${plural(rows, 'row')} to ${path}`,
    )
  })
}

/** @throws CommandFailed */
async function readMarked(path: string): Promise<Marked[]> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new CommandFailed(`${path} cannot be read: ${messageOf(cause)}`)
  })
  const text = utf8(bytes)
  if (text === null) throw refused(path, 'it is not UTF-8')
  try {
    return markedIn(text)
  } catch (cause) {
    throw cause instanceof ReviewFault ? refused(path, cause.message) : cause
  }
}

function utf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

function refused(path: string, faults: string): CommandFailed {
  return new CommandFailed(printableLines(`nothing was taken away: ${path}\n${faults}`))
}

function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n  ')
}

/** What is to be taken away, as it is now. */
interface Removal extends Marked {
  /** The end; undefined: an API key without one. */
  readonly until: string | undefined
}

interface Review {
  readonly marked: readonly Marked[]
  readonly file: string
}

async function apply(
  gateway: Gateway,
  { marked, file }: Review,
  { yes, json }: { readonly yes: boolean | undefined; readonly json: boolean | undefined },
  terminal: Terminal,
): Promise<void> {
  const { due, gone } = await removalsOf(gateway, marked, file)
  if (!json) await terminal.print(previewText(due, gone, terminal.columns))
  const keys = due.filter(({ by }) => by === 'key').map(({ id }) => id)
  const what = [plural(due.length - keys.length, 'grant'), plural(keys.length, 'API key')].join(' and ')
  if (due.length > 0) {
    await confirm({ question: `Take away ${what}?`, change: `${what} would be taken away` }, yes, terminal)
    if (keys.length > 0) await confirmChange(gateway, { seats: {}, revoke: keys }, yes, terminal)
  }
  let done = 0
  for (const removal of due) {
    await takeAway(gateway, removal).catch((cause: unknown) => {
      const so =
        done === 0 ? '' : `. Of ${what}, ${done} are taken away: run the command again for the others`
      throw new CommandFailed(`${messageOf(cause)}${so}`)
    })
    done++
  }
  const removed = due.map(({ by, id, user, seats }) => ({ by, id, user, seats }))
  const text = json ? JSON.stringify({ removed, gone: gone.map(({ id }) => id) }) : `took away ${what}`
  if (json || due.length > 0) await terminal.print(text)
}

async function takeAway(gateway: Gateway, { by, id }: Removal): Promise<void> {
  const path = by === 'key' ? `/v1/api-keys/${id}` : `/v1/grants/${id}`
  try {
    await gateway.send(path, { method: 'DELETE' })
  } catch (cause) {
    // It has ended, or another has deleted it, since the preview.
    if (!isCode(cause, 'grant_not_found')) throw cause
  }
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof GatewayRefusal && cause.problem.code === code
}

/**
 * Compares what is marked with what there is. A row of another tenant, or one that a spreadsheet has shifted,
 * must take nothing away.
 *
 * @throws CommandFailed with all faults
 */
async function removalsOf(gateway: Gateway, marked: readonly Marked[], file: string) {
  const grants = new Map<string, GrantView>()
  if (marked.some(({ by }) => by === 'grant'))
    for await (const page of gateway.pages<GrantView>('/v1/grants', idOf))
      for (const grant of page) grants.set(grant.id, grant)
  const [due, gone, faults]: [Removal[], Marked[], string[]] = [[], [], []]
  for (const each of marked) {
    const state = await stateOf(gateway, each, grants.get(each.id))
    if (state === 'gone') gone.push(each)
    else if (typeof state === 'string') faults.push(`line ${each.line}: ${state}`)
    else due.push(state)
  }
  if (faults.length > 0) throw refused(file, shortened(faults))
  return { due, gone }
}

/** @returns `gone`: it has ended or has been taken away; another text is a fault */
async function stateOf(
  gateway: Gateway,
  marked: Marked,
  grant: GrantView | undefined,
): Promise<Removal | string> {
  const { by, id, user, seats } = marked
  if (by === 'key') {
    const key = await gateway.get<ApiKeyView>(`/v1/api-keys/${id}`).catch((cause: unknown) => {
      if (isCode(cause, 'api_key_not_found')) return null
      throw cause
    })
    if (key === null) return `there is no API key ${id}`
    if (key.revoked_at !== undefined) return 'gone'
    const fault = differenceOf(marked, key.owner ?? '', key.seats)
    return fault ?? { ...marked, until: key.expires_at }
  }
  if (grant === undefined) return (await hasBeen(gateway, id)) ? 'gone' : `there is no grant ${id}`
  return (
    differenceOf({ ...marked, user, seats }, grant.user, [grant.seat]) ?? { ...marked, until: grant.until }
  )
}

/** Whether the tenant has had the grant, according to the audit. */
async function hasBeen(gateway: Gateway, id: string): Promise<boolean> {
  const query = { action: 'grant.create', target: id }
  const { data } = await gateway.get<{ readonly data: readonly AuditEntry[] }>('/v1/audit', query)
  return data.some(({ target }) => target.id === id)
}

/** How a row differs from what there is; null: it does not. */
function differenceOf(
  { by, id, user, seats }: Marked,
  holder: string,
  held: readonly string[],
): string | null {
  const what = `${by === 'key' ? 'API key' : 'grant'} ${id}`
  if (user !== holder) return `${what} is of ${JSON.stringify(holder)}, not of ${JSON.stringify(user)}`
  const named = (all: readonly string[]) => all.map((seat) => JSON.stringify(seat)).join(', ') || 'no Seat'
  if (new Set(seats).symmetricDifference(new Set(held)).size > 0)
    return `${what} has ${named(held)}, and the marked rows have ${named(seats)}: export the list again`
  return null
}

const REMOVALS = [
  { name: 'by', width: 5, of: ({ by }: Removal) => by },
  { name: 'user', width: 12, of: ({ user }: Removal) => user },
  { name: 'seats', width: 10, of: ({ seats }: Removal) => seats },
  { name: 'until', width: 15, of: ({ until }: Removal) => (until === undefined ? '' : shortTime(until)) },
  { name: 'id', width: 26, of: ({ id }: Removal) => id },
]

function previewText(due: readonly Removal[], gone: readonly Marked[], room: number): string {
  const lines = due.length === 0 ? ['nothing to take away'] : tableLines(REMOVALS, room)(due)
  const past = gone.length === 0 ? [] : [`${gone.length} more marked have ended or been taken away before`]
  return [...lines, ...past].join('\n')
}
