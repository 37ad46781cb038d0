/** `seatgate seats delete`. */

import { defineCommand } from '../command.ts'
import { WRITTEN } from '../remote/exits.ts'
import { findSeat } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/options.ts'
import { explainStale } from './update.ts'
import { writtenText } from './written.ts'

export const deleteSeat = defineCommand(
  {
    name: 'seats delete',
    summary: 'Deletes a Seat: users and API keys with it lose what it grants.',
    details: '`seatgate seats show` and `seatgate who-can` say before whom it concerns.',
    positionals: [{ name: 'SEAT', description: 'name or id of a Seat' }],
    options: REMOTE,
    exits: WRITTEN,
    example: 'seatgate seats delete Viewer',
  },
  async ({ values, positionals: [given = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { seat, tag } = await findSeat(gateway, given)
      await gateway.send(`/v1/seats/${seat.id}`, { method: 'DELETE', ifMatch: tag }).catch(explainStale)
      await terminal.print(writtenText('deleted', seat))
    }),
)
