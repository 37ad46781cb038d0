/** `seatgate users list`. */

import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { READ } from '../remote/exits.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { printList, shortTime } from '../remote/list-output.ts'
import type { UserView } from '../remote/endpoint-answers.ts'

const COLUMNS = [
  { name: 'sub', width: 18, of: ({ sub }: UserView) => sub },
  { name: 'email', width: 22, of: ({ email }: UserView) => email ?? '' },
  { name: 'last sign-in', width: 20, of: ({ last_sign_in: at }: UserView) => shortTime(at ?? '') },
  {
    name: 'seats',
    width: 14,
    of: ({ seats, blocked }: UserView) => (blocked ? 'BLOCKED' : seats),
  },
]

export const listUsers = defineCommand(
  {
    name: 'users list',
    summary: 'Lists the users who signed in, with the Seats of their latest sign-in.',
    details: 'Users with tokens from other issuers are not known.',
    options: {
      q: { value: 'TEXT', description: 'only users with this text in their sub or email address' },
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: READ,
    example: 'seatgate users list --q anna',
  },
  async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) =>
      printList(
        gateway.pages<UserView>('/v1/users', ({ sub }) => sub, { q: values.q }),
        { columns: COLUMNS, json: values.json, none: 'no users' },
        terminal,
      ),
    ),
)
