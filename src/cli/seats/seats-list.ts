/** `seatgate seats list`. */

import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { idOf } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { printList } from '../remote/list-output.ts'
import type { SeatView } from '../remote/endpoint-answers.ts'
import { READ } from '../remote/exits.ts'

const COLUMNS = [
  { name: 'name', width: 22, of: ({ name }: SeatView) => name },
  { name: 'spaces', width: 20, of: ({ spaces }: SeatView) => spaces },
  { name: 'permissions', width: 27, of: ({ permissions }: SeatView) => permissions },
  { name: 'users', width: 5, of: ({ member_count: users }: SeatView) => `${users ?? ''}` },
]

export const listSeats = defineCommand(
  {
    name: 'seats list',
    summary: 'Lists the Seats that the API key may see, in order of creation.',
    options: { ...REMOTE, json: JSON_OUTPUT },
    exits: READ,
    example: 'seatgate seats list --url https://gateway.example.com',
  },
  async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) =>
      printList(
        gateway.pages<SeatView>('/v1/seats', idOf),
        { columns: COLUMNS, json: values.json, none: 'no Seats' },
        terminal,
      ),
    ),
)
