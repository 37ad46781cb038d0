/** `seatgate seats update`. */

import { EVERY_PERMISSION } from '../../../seats-admin/model/permission.ts'
import { GRANT_ANY } from '../../../seats-admin/model/scope.ts'
import { printable } from '../../telemetry/readable.ts'
import { UsageError } from '../arguments.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { WRITTEN } from '../remote/exits.ts'
import { confirmChange, YES } from '../remote/administration-prompt.ts'
import { findSeat } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import type { SeatView } from '../remote/endpoint-answers.ts'
import { warn, writtenText } from './written.ts'

const space = { value: 'S', multiple: true } as const
const permission = { value: 'P', multiple: true } as const

export const updateSeat = defineCommand(
  {
    name: 'seats update',
    summary: 'Changes a Seat.',
    details: 'If the Seat changes in the meantime, nothing is written.',
    positionals: [{ name: 'SEAT', description: 'name or id of the Seat' }],
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
  },
  async ({ values, positionals: [given = ''] }, terminal) => {
    const spaces = { all: values.in, added: values['add-in'], removed: values['remove-in'] }
    const permissions = { all: values.permission, added: values.add, removed: values.remove }
    if (values.name === undefined && !isChange(spaces) && !isChange(permissions))
      throw new UsageError('nothing to change: give --name, --in, --permission, --add or --remove')
    refuseMixed('in', spaces)
    refuseMixed('permission', permissions)
    return withGateway(values, terminal, async (gateway) => {
      const { seat, tag } = await findSeat(gateway, given)
      const body = {
        ...(values.name === undefined ? {} : { name: values.name }),
        ...(isChange(spaces) ? { spaces: changed(seat.spaces, spaces) } : {}),
        ...(isChange(permissions) ? { permissions: changed(seat.permissions, permissions) } : {}),
      }
      const { spaces: where = seat.spaces, permissions: what = seat.permissions } = body
      const lists = { spaces: where, permissions: what }
      // Other Seats administrate nothing, before and after.
      if (mayAdministrate(seat))
        await confirmChange(
          gateway,
          { seats: Object.fromEntries([[seat.name, lists]]) },
          values.yes,
          terminal,
        )
      const { value } = await gateway
        .send<SeatView>(`/v1/seats/${seat.id}`, { method: 'PUT', body, ifMatch: tag })
        .catch(explainStale)
      warn(value.warnings, terminal)
      await terminal.print(values.json ? JSON.stringify(value) : writtenText('updated', value))
    })
  },
)

/** @throws CommandFailed in place of 412 */
export function explainStale(cause: unknown): never {
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
