/** `seatgate seats delete`. */

import { printable } from '../../telemetry/readable.ts'
import { defineCommand, type Terminal } from '../command.ts'
import { WRITTEN } from '../remote/exits.ts'
import { confirmAdministration, YES } from '../remote/administration.ts'
import { findSeat } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway.ts'
import { REMOTE, withGateway } from '../remote/options.ts'
import type { Plan, SeatView } from '../remote/resources.ts'
import { fold } from '../screen.ts'
import { planOf } from './plan.ts'
import { holdersText } from './plan-output.ts'
import { explainStale } from './update.ts'
import { writtenText } from './written.ts'

export const deleteSeat = defineCommand(
  {
    name: 'seats delete',
    summary: 'Deletes a Seat: users and API keys with it lose what it grants.',
    details:
      'It says who had the Seat. To see that before, leave the Seat out of the file of `seatgate seats plan --prune`.',
    positionals: [{ name: 'SEAT', description: 'name or id of a Seat' }],
    options: { ...REMOTE, yes: YES },
    exits: WRITTEN,
    example: 'seatgate seats delete Viewer',
  },
  async ({ values, positionals: [given = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { seat, tag } = await findSeat(gateway, given)
      const { changes, warnings } = await emptied(gateway, seat)
      await confirmAdministration(warnings, values.yes, terminal)
      await gateway.send(`/v1/seats/${seat.id}`, { method: 'DELETE', ifMatch: tag }).catch(explainStale)
      const [change] = changes
      const holders = change === undefined ? null : holdersText(change)
      if (holders !== null) note(holders, terminal)
      await terminal.print(writtenText('deleted', seat))
    }),
)

/** Asked before: the answer to the deletion has no body. */
function emptied(gateway: Gateway, { name }: SeatView): Promise<Plan> {
  const empty = { spaces: [], permissions: [] }
  return planOf(gateway, { seats: Object.fromEntries([[name, empty]]) })
}

function note(holders: string, terminal: Terminal): void {
  terminal.printError(fold(printable(`note: ${holders} had it, and lost what it granted`), '', '  '))
}
