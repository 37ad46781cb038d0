/** `seatgate seats`: lists, shows, creates, changes and deletes Seats through a gateway, one at a time. */

import type { AuditEntry } from '../../../seats-admin/index.ts'
import { EVERY_PERMISSION } from '../../../seats-admin/model/permission.ts'
import { GRANT_ANY } from '../../../seats-admin/model/scope.ts'
import { quote } from '../../config/invalid-value.ts'
import { printable } from '../../telemetry/readable.ts'
import { JSON_OUTPUT, UsageError } from '../arguments.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { confirm, confirmAdministration, confirmChange, YES } from '../remote/administration-prompt.ts'
import { AuthorNames } from '../remote/author-names.ts'
import type { SeatView } from '../remote/endpoint-answers.ts'
import { READ, WRITTEN } from '../remote/exits.ts'
import { findSeat, idOf } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { printList } from '../remote/list-output.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { fold } from '../screen.ts'
import { deletionText, planOf } from './plan-output.ts'
import { historyText } from './seat-history.ts'
import { warn, writtenText } from './written.ts'

const SEAT = { name: 'SEAT', description: 'name or id of the Seat' }
const space = { value: 'S', multiple: true } as const
const permission = { value: 'P', multiple: true } as const

const COLUMNS = [
  { name: 'name', width: 22, of: ({ name }: SeatView) => name },
  { name: 'spaces', width: 20, of: ({ spaces }: SeatView) => spaces },
  { name: 'permissions', width: 27, of: ({ permissions }: SeatView) => permissions },
  { name: 'users', width: 5, of: ({ member_count: users }: SeatView) => `${users ?? ''}` },
]

export const listSeats = defineCommand({
  name: 'seats list',
  summary: 'Lists the Seats that the API key may see, in order of creation.',
  details:
    'users counts those whose latest sign-in carried the Seat. With seats_from: scim, it is exact: the active users in the group of its name. --json says which, as member_count_exact.',
  options: { ...REMOTE, json: JSON_OUTPUT },
  exits: READ,
  example: 'seatgate seats list --url https://gateway.example.com',
  run: async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) =>
      printList(
        gateway.pages<SeatView>('/v1/seats', idOf),
        { columns: COLUMNS, json: values.json, none: 'no Seats' },
        terminal,
      ),
    ),
})

export const showSeat = defineCommand({
  name: 'seats show',
  summary: 'Shows a Seat or, with --history, each of its changes as a diff.',
  details: 'The history requires the permission audit:list. It is also available for a deleted Seat.',
  positionals: [SEAT],
  options: {
    history: { description: 'shows who changed what and when, oldest change first' },
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: READ,
  example: 'seatgate seats show Viewer --history',
  run: async ({ values, positionals: [nameOrId = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      if (values.history !== true) {
        const { seat } = await findSeat(gateway, nameOrId)
        if (values.json) return terminal.print(JSON.stringify(seat))
        const names = new AuthorNames(gateway)
        const created = await names.nameOf(seat.created_by ?? '')
        return terminal.print(seatText(seat, created, await names.nameOf(seat.updated_by ?? '')))
      }
      const target = await idOfSeat(gateway, nameOrId)
      const entries: AuditEntry[] = []
      for await (const page of gateway.pages<AuditEntry>('/v1/audit', idOf, { target })) entries.push(...page)
      const history = entries.toReversed()
      await terminal.print(
        values.json ? JSON.stringify({ id: target, history }) : historyText(nameOrId, history),
      )
    }),
})

/** The id of a Seat; if it is deleted, the id of the last Seat with the name. */
async function idOfSeat(gateway: Gateway, nameOrId: string): Promise<string> {
  try {
    return (await findSeat(gateway, nameOrId)).seat.id
  } catch (cause) {
    const deleted = gateway.pages<AuditEntry>('/v1/audit', idOf, { action: 'seat.delete' })
    for await (const page of deleted) {
      const entry = page.find(({ target: { id, name } }) => name === nameOrId || id === nameOrId)
      if (entry !== undefined) return entry.target.id
    }
    throw cause
  }
}

/**
 * A Seat as text.
 *
 * @param created the name of its author
 * @param updated the name of the author of the last update; '' before the first one
 */
function seatText(seat: SeatView, created: string, updated: string): string {
  const { name, id, spaces, permissions, created_at, updated_at } = seat
  const lines = [
    ['name', printable(name)],
    ['id', id],
    ['spaces', spaces.length === 0 ? '(none)' : spaces.join(', ')],
    ['permissions', permissions.length === 0 ? '(none)' : permissions.join(', ')],
    ['created', `${created_at} by ${printable(created)}`],
    ...(updated === '' ? [] : [['updated', `${updated_at} by ${printable(updated)}`]]),
  ]
  const indent = ' '.repeat(13)
  return lines.map(([title = '', text = '']) => fold(text, `${title.padEnd(11)}  `, indent)).join('\n')
}

export const createSeat = defineCommand({
  name: 'seats create',
  summary: 'Creates a Seat.',
  positionals: [{ name: 'NAME', description: 'name of the Seat, unique in the tenant' }],
  options: {
    in: { ...space, description: 'a space in which the Seat grants its permissions' },
    permission: { ...permission, description: 'a permission that the Seat grants, such as trainings:list' },
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: WRITTEN,
  example: 'seatgate seats create Viewer --in main --permission trainings:list',
  run: async ({ values, positionals: [name = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const body = { name, spaces: values.in ?? [], permissions: values.permission ?? [] }
      const { value } = await gateway.send<SeatView>('/v1/seats', { method: 'POST', body })
      warn(value.warnings, terminal)
      const missing = [
        ...(body.spaces.length === 0 ? ['space (--in)'] : []),
        ...(body.permissions.length === 0 ? ['permission (--permission)'] : []),
      ]
      if (missing.length > 0)
        terminal.printError(`note: the Seat grants nothing, because it has no ${missing.join(' and no ')}`)
      await terminal.print(values.json ? JSON.stringify(value) : writtenText('created', value))
    }),
})

export const updateSeat = defineCommand({
  name: 'seats update',
  summary: 'Changes a Seat.',
  details: 'If the Seat changes in the meantime, nothing is written.',
  positionals: [SEAT],
  options: {
    name: { value: 'NAME', description: 'the new name' },
    in: { ...space, description: 'the spaces of the Seat, replacing the current ones' },
    permission: { ...permission, description: 'the permissions of the Seat, replacing the current ones' },
    'add-in': { ...space, description: 'a space to add' },
    'remove-in': { ...space, description: 'a space to remove' },
    add: { ...permission, description: 'a permission to add' },
    remove: { ...permission, description: 'a permission to remove' },
    ...REMOTE,
    yes: YES,
    json: JSON_OUTPUT,
  },
  exits: WRITTEN,
  example: 'seatgate seats update Viewer --add trainings:read',
  run: async ({ values, positionals: [nameOrId = ''] }, terminal) => {
    const spaces = { all: values.in, added: values['add-in'], removed: values['remove-in'] }
    const permissions = { all: values.permission, added: values.add, removed: values.remove }
    if (values.name === undefined && !isChange(spaces) && !isChange(permissions))
      throw new UsageError('nothing to change: give --name, --in, --permission, --add or --remove')
    refuseMixed('in', spaces)
    refuseMixed('permission', permissions)
    return withGateway(values, terminal, async (gateway) => {
      const { seat, tag } = await findSeat(gateway, nameOrId)
      const body = {
        name: values.name,
        spaces: isChange(spaces) ? changed(seat.spaces, spaces) : undefined,
        permissions: isChange(permissions) ? changed(seat.permissions, permissions) : undefined,
      }
      const lists = { spaces: body.spaces ?? seat.spaces, permissions: body.permissions ?? seat.permissions }
      const change = { seats: Object.fromEntries([[seat.name, lists]]) }
      // Other Seats cannot administrate the tenant, before or after the change.
      if (mayAdministrate(seat)) await confirmChange(gateway, change, values.yes, terminal)
      const { value } = await gateway
        .send<SeatView>(`/v1/seats/${seat.id}`, { method: 'PUT', body, ifMatch: tag })
        .catch(explainStale)
      warn(value.warnings, terminal)
      await terminal.print(values.json ? JSON.stringify(value) : writtenText('updated', value))
    })
  },
})

/** Explains status 412. @throws CommandFailed in place of that refusal */
function explainStale(cause: unknown): never {
  if (cause instanceof GatewayRefusal && cause.problem.code === 'precondition_failed')
    throw new CommandFailed(
      `another change came between, and nothing was written: run it again (request ${cause.problem.requestId})`,
    )
  throw cause
}

function mayAdministrate({ permissions }: SeatView): boolean {
  return permissions.includes(EVERY_PERMISSION) || permissions.includes(GRANT_ANY)
}

interface Changes {
  readonly all: readonly string[] | undefined
  readonly added: readonly string[] | undefined
  readonly removed: readonly string[] | undefined
}

function isChange({ all, added, removed }: Changes): boolean {
  return all !== undefined || added !== undefined || removed !== undefined
}

function refuseMixed(name: string, { all, added, removed }: Changes): void {
  if (all !== undefined && (added !== undefined || removed !== undefined))
    throw new UsageError(`--${name} replaces the whole list: it excludes what adds and removes`)
}

function changed(now: readonly string[], { all, added = [], removed = [] }: Changes): string[] {
  if (all !== undefined) return [...all]
  const gone = new Set(removed)
  for (const each of removed)
    if (!now.includes(each)) throw new CommandFailed(`the Seat does not have ${printable(each)}`)
  return [...new Set([...now.filter((each) => !gone.has(each)), ...added])]
}

export const deleteSeat = defineCommand({
  name: 'seats delete',
  summary: 'Deletes a Seat: users and API keys that hold it lose what it grants.',
  details: 'It first shows who is affected and which routes they lose, and asks for confirmation.',
  positionals: [SEAT],
  options: {
    ...REMOTE,
    yes: {
      description:
        'deletes the Seat without confirmation, even if no one could administer the tenant afterwards',
    },
  },
  exits: WRITTEN,
  example: 'seatgate seats delete Viewer --yes',
  run: async ({ values, positionals: [nameOrId = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { seat, tag } = await findSeat(gateway, nameOrId)
      // The plan comes first: the answer to the deletion has no body. Holders lose as much as if the Seat
      // were emptied.
      const emptied = { spaces: [], permissions: [] }
      const { changes, warnings } = await planOf(gateway, {
        seats: Object.fromEntries([[seat.name, emptied]]),
      })
      await terminal.print(deletionText(seat.name, changes[0]))
      const name = printable(quote(seat.name))
      const question = { question: `Delete Seat ${name}?`, change: `Seat ${name} would be deleted` }
      await confirm(question, values.yes, terminal)
      await confirmAdministration(warnings, values.yes, terminal)
      await gateway.send(`/v1/seats/${seat.id}`, { method: 'DELETE', ifMatch: tag }).catch(explainStale)
      await terminal.print(writtenText('deleted', seat))
    }),
})
