/** `seatgate seats delete`. */

import { quote } from '../../config/invalid-value.ts'
import { printable } from '../../telemetry/readable.ts'
import { defineCommand } from '../command.ts'
import { WRITTEN } from '../remote/exits.ts'
import { confirm, confirmAdministration } from '../remote/administration-prompt.ts'
import { findSeat } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import type { Plan, SeatView } from '../remote/endpoint-answers.ts'
import { planOf } from './seats-plan.ts'
import { deletionText } from './plan-output.ts'
import { explainStale } from './seats-update.ts'
import { writtenText } from './written.ts'

export const deleteSeat = defineCommand(
  {
    name: 'seats delete',
    summary: 'Deletes a Seat: users and API keys that hold it lose what it grants.',
    details: 'It first shows who is affected and which routes they lose, and asks for confirmation.',
    positionals: [{ name: 'SEAT', description: 'name or id of the Seat' }],
    options: {
      ...REMOTE,
      yes: {
        description:
          'deletes the Seat without confirmation, even if no one could administer the tenant afterwards',
      },
    },
    exits: WRITTEN,
    example: 'seatgate seats delete Viewer --yes',
  },
  async ({ values, positionals: [given = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { seat, tag } = await findSeat(gateway, given)
      const { changes, warnings } = await emptied(gateway, seat)
      await terminal.print(deletionText(seat.name, changes[0]))
      const name = printable(quote(seat.name))
      const question = { question: `Delete Seat ${name}?`, change: `Seat ${name} would be deleted` }
      await confirm(question, values.yes, terminal)
      await confirmAdministration(warnings, values.yes, terminal)
      await gateway.send(`/v1/seats/${seat.id}`, { method: 'DELETE', ifMatch: tag }).catch(explainStale)
      await terminal.print(writtenText('deleted', seat))
    }),
)

/** Asked before: the answer to the deletion has no body. Its holders lose as much as where it is emptied. */
function emptied(gateway: Gateway, { name }: SeatView): Promise<Plan> {
  const empty = { spaces: [], permissions: [] }
  return planOf(gateway, { seats: Object.fromEntries([[name, empty]]) })
}
