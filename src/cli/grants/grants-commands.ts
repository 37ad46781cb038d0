/** `seatgate grants list`, `create` and `delete`: Seats that users have besides, until a time. */

import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { loadConfig } from '../../config/load.ts'
import { printable } from '../../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT, TENANT, UsageError } from '../arguments.ts'
import { defineCommand, tenantOf, type Terminal } from '../command.ts'
import { withStore } from '../existing-store.ts'
import { suggestion } from '../near-names.ts'
import type { GrantView, SeatView } from '../remote/endpoint-answers.ts'
import { READ, WRITTEN } from '../remote/exits.ts'
import { findSub, idOf } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { printList, shortTime } from '../remote/list-output.ts'
import { anyMoment, momentOf } from '../remote/moment.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { grantsOf } from '../seat-source.ts'
import { grantViewOf } from './review-source.ts'

const COLUMNS = [
  { name: 'id', width: 26, of: ({ id }: GrantView) => id },
  { name: 'user', width: 8, of: ({ user }: GrantView) => user },
  { name: 'seat', width: 6, of: ({ seat }: GrantView) => seat },
  { name: 'until', width: 20, of: ({ until }: GrantView) => shortTime(until) },
  { name: 'from', width: 12, of: beginOf },
]

/** Of a grant that begins later. */
function beginOf({ from }: GrantView): string {
  return Date.parse(from) > Date.now() ? shortTime(from) : ''
}

/** Reads a store in place of a gateway. */
export const STORE_TENANT = {
  ...TENANT,
  description: 'id of a tenant in the configuration: reads its store instead of asking a gateway',
} as const

/** @throws UsageError where a store and a gateway are named */
export function refuseBoth(values: {
  readonly tenant: string | undefined
  readonly url: string | undefined
}) {
  if (values.tenant !== undefined && values.url !== undefined)
    throw new UsageError('--tenant reads a store, and --url asks a gateway: give one')
}

export const listGrants = defineCommand({
  name: 'grants list',
  summary: 'Lists the grants of Seats with an end that are in force or begin later.',
  details:
    'It asks a gateway or, with --tenant, reads the store in the configuration. --json has author and reason.',
  options: {
    user: { value: 'USER', description: 'only grants of this user: the sub' },
    seat: { value: 'NAME', description: 'only grants of this Seat: a name or an id' },
    'ending-before': {
      value: 'TIME',
      description:
        'only grants that end before this time: a duration such as 7d (from now on), or a date-time',
    },
    tenant: STORE_TENANT,
    config: CONFIG,
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: READ,
  example: 'seatgate grants list --ending-before 7d',
  run: async ({ values }, terminal) => {
    const { user, seat, tenant, json } = values
    refuseBoth(values)
    const end = values['ending-before']
    const before = end === undefined ? undefined : anyMoment('--ending-before', end)
    const shown = { columns: COLUMNS, json, none: 'no grants' }
    if (tenant === undefined)
      return withGateway(values, terminal, (gateway) => {
        const query = { user, seat, ending_before: before }
        return printList(gateway.pages<GrantView>('/v1/grants', idOf, query), shown, terminal)
      })
    const config = await loadConfig(values.config, terminal.env)
    const { id } = tenantOf(config, tenant)
    return withStore(config, terminal, (store) => {
      const endingBefore = before === undefined ? null : Date.parse(before)
      const grants = grantsOf(store, id, { user: user ?? null, seat: seat ?? null, endingBefore })
      return printList(viewsOf(grants), shown, terminal)
    })
  },
})

async function* viewsOf(grants: ReturnType<typeof grantsOf>): AsyncGenerator<GrantView[]> {
  for await (const grant of grants) yield [grantViewOf(grant)]
}

export const createGrant = defineCommand({
  name: 'grants create',
  summary: 'Gives a user a Seat until a time, besides the Seats of the sign-in.',
  details:
    'An email address must belong to a known user. A `sub` may be unknown, because tokens from other issuers also have one.',
  positionals: [{ name: 'USER', description: '`sub` or email address of the user' }],
  options: {
    seat: { value: 'NAME', description: 'name or id of the Seat', required: true },
    until: {
      value: 'TIME',
      description: 'when the grant ends: a duration such as 2h, or a date-time',
      required: true,
    },
    from: {
      value: 'TIME',
      description: 'when it begins: a duration such as 30m (from now on), or a date-time; by default, now',
    },
    sub: { description: 'takes USER as a `sub`, even if it is not known from a sign-in' },
    reason: { value: 'TEXT', description: 'the reason, for people to read; it appears in the audit' },
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: WRITTEN,
  example: 'seatgate grants create anna --seat Operator --until 2h --reason on-call',
  run: async ({ values, positionals: [subOrAddress = ''] }, terminal) => {
    const { seat, reason, json } = values
    const until = momentOf('--until', values.until)
    const from = values.from === undefined ? undefined : anyMoment('--from', values.from)
    if (from !== undefined && from >= until) throw new UsageError('--until is not later than --from')
    return withGateway(values, terminal, async (gateway) => {
      const user = values.sub ? subOrAddress : await findSub(gateway, subOrAddress, terminal)
      const body = { user, seat, from, until, reason }
      const { value } = await gateway
        .send<GrantView>('/v1/grants', { method: 'POST', body })
        .catch(async (cause: unknown) => {
          throw cause instanceof GatewayRefusal ? await withNearSeat(gateway, cause, seat) : cause
        })
      await terminal.print(json ? JSON.stringify(value) : printable(createdText(value)))
    })
  },
})

function createdText(grant: GrantView): string {
  const begin = beginOf(grant)
  const from = begin === '' ? '' : ` from ${begin}`
  return `granted ${JSON.stringify(grant.seat)} to ${grant.user}${from} until ${shortTime(grant.until)}: ${grant.id}`
}

/** The refusal of a Seat, with a suggestion for an unknown name. */
async function withNearSeat(gateway: Gateway, refusal: GatewayRefusal, seat: string) {
  if (!refusal.problem.errors.some(({ path }) => path === '/seat')) return refusal
  const pages = gateway.pages<SeatView>('/v1/seats', idOf)
  // A key that may not list Seats gets the refusal without suggestions.
  const near = await suggestion(seat, namesIn(pages)).catch(() => '')
  if (near !== '') refusal.message += near
  return refusal
}

async function* namesIn(pages: AsyncIterable<readonly SeatView[]>): AsyncGenerator<string> {
  for await (const page of pages) for (const { name } of page) yield name
}

export const deleteGrant = defineCommand({
  name: 'grants delete',
  summary: 'Ends a grant at once.',
  details: 'A Seat of the latest sign-in, or of another grant, stays.',
  positionals: [{ name: 'ID', description: 'id of the grant, as seatgate grants list shows it' }],
  options: REMOTE,
  exits: WRITTEN,
  example: 'seatgate grants delete 01JEX6Q1W4R6J8WQ3T5N9V2K7M',
  run: async ({ values, positionals: [id = ''] }, terminal: Terminal) => {
    if (!isUlid(id)) throw new UsageError('ID is not the id of a grant')
    return withGateway(values, terminal, async (gateway) => {
      await gateway.send(`/v1/grants/${id}`, { method: 'DELETE' })
      await terminal.print(`ended grant ${id}`)
    })
  },
})
