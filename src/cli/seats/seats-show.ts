/** `seatgate seats show`. */

import type { AuditEntry } from '../../../seats-admin/index.ts'
import { printable } from '../../telemetry/readable.ts'
import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { AuthorNames } from '../remote/author-names.ts'
import { READ } from '../remote/exits.ts'
import { findSeat, idOf } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import type { SeatView } from '../remote/endpoint-answers.ts'
import { fold } from '../screen.ts'
import { historyText } from './seat-history.ts'

export const showSeat = defineCommand(
  {
    name: 'seats show',
    summary: 'Shows a Seat or, with --history, each of its changes as a diff.',
    details: 'The history requires the permission audit:list. It is also available for a deleted Seat.',
    positionals: [{ name: 'SEAT', description: 'name or id of the Seat' }],
    options: {
      history: { description: 'shows who changed what and when, oldest change first' },
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: READ,
    example: 'seatgate seats show Viewer --history',
  },
  async ({ values, positionals: [given = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      if (values.history !== true) {
        const { seat } = await findSeat(gateway, given)
        if (values.json) return terminal.print(JSON.stringify(seat))
        const names = new AuthorNames(gateway)
        const created = await names.nameOf(seat.created_by ?? '')
        return terminal.print(seatText(seat, created, await names.nameOf(seat.updated_by ?? '')))
      }
      const target = await idOfSeat(gateway, given)
      const entries: AuditEntry[] = []
      for await (const page of gateway.pages<AuditEntry>('/v1/audit', idOf, { target })) entries.push(...page)
      const history = entries.toReversed()
      await terminal.print(
        values.json ? JSON.stringify({ id: target, history }) : historyText(given, history),
      )
    }),
)

/** Also of a Seat that is gone: the one of the name that was deleted last. */
async function idOfSeat(gateway: Gateway, given: string): Promise<string> {
  try {
    return (await findSeat(gateway, given)).seat.id
  } catch (cause) {
    const deleted = gateway.pages<AuditEntry>('/v1/audit', idOf, { action: 'seat.delete' })
    for await (const page of deleted) {
      const entry = page.find(({ target: { id, name } }) => name === given || id === given)
      if (entry !== undefined) return entry.target.id
    }
    throw cause
  }
}

/** @param created name of who created it @param updated of who updated it last; '' before the first update */
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
