/** `seatgate lint`: compares the route tables with Seats and API keys. */

import { isAdministered, type Store } from '../../seats-admin/index.ts'
import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import { type Finding, LEVELS, type LintCode, lintRoutes, lintTenant } from '../access/table-lint.ts'
import type { Config } from '../config/config.ts'
import type { SeatsFile } from '../config/seats-file.ts'
import { seatsFromOf } from '../config/seats-source.ts'
import type { Route } from '../model/route.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT, SEATS_FILE, TENANT } from './arguments.ts'
import { defineCommand, tenantOf, type Terminal } from './command.ts'
import { withStoreOrEmpty } from './existing-store.ts'
import { loadDecidingTables, TABLES_OPERAND, versionOfOperand } from './deciding-tables.ts'
import { fitted, fold } from './screen.ts'
import { grantsOf, groupsOf, keysOf, readSeatsOf, seatsOf } from './seat-source.ts'

const FOUND = 3
/** The most findings of one code in the text. */
const MOST_LINES = 10

export const lint = defineCommand({
  name: 'lint',
  summary:
    'Compares route tables with Seats and API keys: finds permissions that no route requires, and routes that no Seat opens.',
  positionals: [TABLES_OPERAND],
  options: {
    tenant: { ...TENANT, description: 'only this tenant' },
    seats: SEATS_FILE,
    strict: { description: 'exits with code 3 if there is an error or a warning' },
    config: CONFIG,
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'done, whatever was found',
    1: 'the configuration has faults, or the store cannot be read',
    3: 'with --strict: there is an error or a warning',
  },
  example: 'seatgate lint --tenant acme --strict',
  run: async ({ values, positionals: [tables] }, terminal) => {
    const { config, table, accepts } = await loadDecidingTables(values.config, terminal, {
      ...(values.seats === undefined ? {} : { env: null }),
      version: versionOfOperand(tables),
    })
    if (values.tenant !== undefined) tenantOf(config, values.tenant)
    const findings = lintRoutes(table.routes, accepts)
    if (values.seats === undefined)
      findings.push(...(await lintStore(config, table.routes, values.tenant, terminal)))
    else {
      const file = await readSeatsOf(values.tenant, values.seats, terminal.env)
      findings.push(...(await lintFile(config, table.routes, file)))
    }
    await terminal.print(values.json ? JSON.stringify(findings, null, 2) : asText(findings))
    return values.strict && findings.some(({ level }) => level !== 'info') ? FOUND : 0
  },
})

async function lintFile(config: Config, routes: readonly Route[], file: SeatsFile): Promise<Finding[]> {
  const { id, adminSpace, issuers = [] } = tenantOf(config, file.tenant)
  const seats = file.seats.map((seat) => ({ ...seat, members: null }))
  return lintTenant(routes, { id, adminSpace, issuers, seats, keys: [], administered: null }, Date.now())
}

async function lintStore(
  config: Config,
  routes: readonly Route[],
  only: string | undefined,
  terminal: Terminal,
): Promise<Finding[]> {
  return withStoreOrEmpty(config, terminal, async (store, isEmpty) => {
    const findings: Finding[] = []
    const seatsFrom = seatsFromOf(config)
    for (const { id, adminSpace, issuers = [] } of config.tenants.values()) {
      if (only !== undefined && id !== only) continue
      const tenant = {
        id,
        adminSpace,
        issuers,
        seats: lintedSeats(store, id),
        keys: lintedKeys(store, id),
        granted: grantedSeats(store, id),
        groups: seatsFrom(id) === null ? null : groupNames(store, id),
        // Without a store, the note says what to do.
        administered: isEmpty ? null : await isAdministered(store, id, adminSpace),
      }
      findings.push(...(await lintTenant(routes, tenant, Date.now())))
    }
    return findings
  })
}

async function* lintedSeats(store: Store, tenant: string) {
  for await (const seat of seatsOf(store, tenant)) yield { ...seat, members: seat.memberCount }
}

async function* lintedKeys(store: Store, tenant: string) {
  for await (const key of keysOf(store, tenant)) if (key.revokedAt === null) yield key
}

async function* grantedSeats(store: Store, tenant: string) {
  for await (const { seatName } of grantsOf(store, tenant)) yield seatName
}

async function* groupNames(store: Store, tenant: string) {
  for await (const { displayName } of groupsOf(store, tenant)) yield displayName
}

/** The findings by code, errors and warnings first; as many as fit on a screen. */
function asText(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'nothing found'
  const byCode = Map.groupBy(findings, ({ code }) => code)
  const sections = (Object.keys(LEVELS) as LintCode[]).flatMap((code) => {
    const ofCode = byCode.get(code) ?? []
    if (ofCode.length === 0) return []
    const lines = ofCode.length > MOST_LINES ? byPermission(ofCode) : ofCode.map(lineOf)
    const items = lines.map((line) => fold(printable(line), '  ', '    '))
    return [{ title: `${LEVELS[code]} ${code} (${ofCode.length})`, items }]
  })
  const rest = (left: number) => `  … and ${left} more: --json has all of them`
  return fitted(sections, { most: MOST_LINES, rest }).join('\n')
}

/** A line for each permission, the most frequent one first. */
function byPermission(findings: readonly Finding[]): string[] {
  const groups = Map.groupBy(findings, (each) => JSON.stringify([each.tenant, each.permission]))
  return [...groups.values()]
    .toSorted((one, other) => other.length - one.length)
    .flatMap((group) => {
      const [first] = group
      if (first === undefined) return []
      const isOne = first.permission === undefined || first.permission === EVERY_PERMISSION
      if (isOne) return group.map(lineOf)
      const more = group.length - 1
      if (more === 0) return [lineOf(first)]
      const others = first.route === undefined ? 'Seats hold it' : 'routes require it'
      return [`${lineOf(first)}; ${more} more ${others}`]
    })
}

function lineOf({ tenant, message, suggestion }: Finding): string {
  const where = tenant === null ? '' : `${tenant}: `
  const hint = suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`
  return `${where}${message}${hint}`
}
