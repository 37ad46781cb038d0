/** `seatgate can`: the routes that the holder of Seats, an API key or a user may call, or may not. */

import { areBlocked, type HeldSeatName, isRefusal, seatsHeld } from '../../seats-admin/index.ts'
import { knowsExactly } from '../../seats-admin/model/seats-from.ts'
import { isAccepted } from '../../seats-admin/model/api-key.ts'
import { isSpaceId } from '../../seats-admin/model/space.ts'
import type { AccessRow } from '../access/answers.ts'
import { accessRows, type HeldSeat, holdingOf, type Holdings } from '../access/callable-routes.ts'
import { namedUser } from '../access/named-user.ts'
import { ofBlockedOwners } from '../access/permission-holders.ts'
import { seatsFromOf } from '../config/seats-source.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG, type Arguments, JSON_OUTPUT, SEATS_FILE, TENANT, UsageError } from './arguments.ts'
import { CommandFailed, defineCommand } from './command.ts'
import { unknownSeat, unknownUser } from './near-names.ts'
import { names, printJson, shortTime } from './remote/list-output.ts'
import { EVERYTHING, type OpenHolders, withHolders } from './seat-source.ts'

const options = {
  seat: { value: 'NAME', description: 'names of Seats', multiple: true },
  'api-key-id': { value: 'ID', description: 'the id of an API key' },
  user: { value: 'SUB', description: 'the sub of a user, or an email address that one user has' },
  not: { description: 'lists the routes that the holder may not call' },
  space: { value: 'S', description: 'only in this space; by default, in every space of the Seats' },
  tenant: TENANT,
  seats: SEATS_FILE,
  config: CONFIG,
  json: JSON_OUTPUT,
} as const

export const can = defineCommand({
  name: 'can',
  summary: 'Lists the routes that a holder of Seats, an API key or a user may call.',
  details:
    'There is a line for each route, and with --json a row for each route and space. A user holds the Seats of the latest sign-in (with seats_from: scim, of the groups now), and those of grants until these end. Routes that are public, or open to every valid credential, have no space.',
  options,
  alternatives: [['seat'], ['api-key-id'], ['user']],
  exits: {
    0: 'the list was printed, even if it is empty',
    1: 'the configuration has faults, the store cannot be read, or there is no such Seat, API key or user',
  },
  example: 'seatgate can --seat Viewer --space main --tenant acme',
  run: async ({ values }, terminal) => {
    const { space = null } = values
    if (values.seat === undefined && values['api-key-id'] === undefined && values.user === undefined)
      throw new UsageError('one of --seat, --api-key-id and --user is required')
    if (space !== null && !isSpaceId(space)) throw new UsageError('--space is not a space id')
    return withHolders(values, terminal, async (holders) => {
      const { routes } = holders.table
      const { holdings, note, exact } = await holdingsOf(holders, values, holdingOf(routes, space))
      if (note !== null) terminal.printError(`note: ${note}`)
      if (values.user !== undefined && !values.json) terminal.printError(`note: ${exact ? EXACT : NOT_EXACT}`)
      const rows = accessRows(routes, holdings, { tenant: holders.tenant.id, space, allowed: !values.not })
      if (values.json) return printJson(batches(rows, exact), ['[', ']'], terminal)
      for (const text of asText(rows)) await terminal.print(text)
    })
  },
})

async function holdingsOf(
  { config, source, tenant: { id: tenant } }: OpenHolders,
  { seat, 'api-key-id': key, user }: Arguments<typeof options>['values'],
  holding: ReturnType<typeof holdingOf>,
): Promise<{ holdings: Holdings; note: string | null; exact: boolean }> {
  const heldSeats = async (ofHolder: readonly HeldSeatName[]) => {
    const seats: HeldSeat[] = []
    for (const { name, until } of ofHolder) {
      const record =
        'seatByName' in source
          ? (await source.seatByName(tenant, name)).value.seat
          : source.find((each) => each.name === name)
      if (record == null) throw await unknownSeat(name, tenant, source)
      seats.push(holding(record, until))
    }
    return seats
  }
  if (seat !== undefined)
    return {
      holdings: { accepted: true, seats: await heldSeats([...new Set(seat)].map(lasting)) },
      note: null,
      exact: true,
    }
  if (!('seatByName' in source))
    throw new UsageError('--seats has Seats alone: --api-key-id and --user need the store')
  if (user !== undefined) {
    const sub = await namedUser(user, { tenant, scope: EVERYTHING }, source)
    if (isRefusal(sub)) throw new CommandFailed(printable(sub.faults?.[0]?.message ?? sub.detail))
    const record = await source.readUser(tenant, sub, EVERYTHING)
    if (record === null) throw await unknownUser(user, tenant, source)
    const [blocked] = await areBlocked(source, tenant, [sub])
    const note = blocked ? `this user is blocked: ${REFUSED}` : null
    const exact = knowsExactly(seatsFromOf(config)(tenant), record)
    return {
      holdings: { accepted: blocked === false, seats: await heldSeats(seatsHeld(record)) },
      note,
      exact,
    }
  }
  const record = await source.readApiKey(tenant, key ?? '', EVERYTHING)
  if (isRefusal(record)) throw new CommandFailed(`tenant ${tenant} has no API key ${printable(key ?? '')}`)
  const [blocked] = await ofBlockedOwners(source, tenant, [record])
  const why = blocked
    ? `owned by a blocked user`
    : isAccepted(record, Date.now())
      ? null
      : 'expired or revoked'
  const note = why === null ? null : `this API key is ${why}: ${REFUSED}`
  const seats = await heldSeats(record.seats.map(lasting))
  return { holdings: { accepted: why === null, seats }, note, exact: true }
}

function lasting(name: string): HeldSeatName {
  return { name, until: null }
}

const REFUSED = 'all but public routes are refused'
const EXACT = 'exact: the Seats are those of SCIM groups and grants now'
const NOT_EXACT = 'not exact: the Seats are those of the latest sign-in, and of grants now'

/** The number of rows that are printed at once. */
const BATCH = 1000

/** The most spaces on one line. */
const MOST_SPACES = 5

/** A line for each route and end, with its spaces. */
function* asText(rows: Iterable<AccessRow>): Generator<string> {
  let count = 0
  for (const { row, spaces } of byRoute(rows)) {
    count++
    const where = spaces.length === 0 ? '' : `  in ${names(spaces, MOST_SPACES)}`
    const end = row.until === undefined ? '' : `  until ${shortTime(row.until)}`
    const line = `${row.method} ${row.host ?? ''}${row.path}  ${row.permission} → ${row.upstream}${where}${end}`
    yield printable(line)
  }
  if (count === 0) yield 'no route'
}

function* byRoute(rows: Iterable<AccessRow>) {
  let current: { row: AccessRow; spaces: string[] } | null = null
  for (const row of rows) {
    if (current === null || !isSameRoute(current.row, row)) {
      if (current !== null) yield current
      current = { row, spaces: [] }
    }
    if (row.space !== null) current.spaces.push(row.space)
  }
  if (current !== null) yield current
}

function isSameRoute(one: AccessRow, other: AccessRow): boolean {
  const { path, method, host, until } = one
  return path === other.path && method === other.method && host === other.host && until === other.until
}

type ExactRow = AccessRow & { readonly exact: boolean }

function* batches(rows: Iterable<AccessRow>, exact: boolean): Generator<ExactRow[]> {
  let batch: ExactRow[] = []
  for (const row of rows) {
    batch.push({ ...row, exact })
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
