/** `seatgate users block`. */

import { printable } from '../../telemetry/readable.ts'
import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../options.ts'
import { WRITTEN } from '../remote/exits.ts'
import { findUser } from '../remote/find.ts'
import { momentOf } from '../remote/moment.ts'
import { REMOTE, withGateway } from '../remote/options.ts'
import type { BlockView } from '../remote/resources.ts'

export const blockUser = defineCommand(
  {
    name: 'users block',
    summary: 'Blocks a user: every token and session of the user is refused, and what is open is cut.',
    positionals: [{ name: 'USER', description: '`sub` or email address of a user' }],
    options: {
      until: {
        type: 'string',
        value: 'TIME',
        description: 'when it ends: a duration such as 7d, or a date-time; left out: when it is unblocked',
      },
      reason: { type: 'string', value: 'TEXT', description: 'for people; it is in the audit' },
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: WRITTEN,
    example: 'seatgate users block anna@example.com --until 7d',
  },
  async ({ values, positionals: [given = ''] }, terminal) => {
    const { reason } = values
    const until = values.until === undefined ? undefined : momentOf('--until', values.until)
    return withGateway(values, terminal, async (gateway) => {
      const known = await findUser(gateway, given)
      if (known === null)
        terminal.printError(
          printable(`note: no sign-in of ${JSON.stringify(given)} is known: it is taken as a sub`),
        )
      const user = known?.sub ?? given
      const body = {
        user,
        ...(until === undefined ? {} : { until }),
        ...(reason === undefined ? {} : { reason }),
      }
      const { value } = await gateway.send<BlockView>('/v1/blocks', { method: 'POST', body })
      const end = value.until === undefined ? '' : ` until ${value.until}`
      await terminal.print(values.json ? JSON.stringify(value) : printable(`blocked ${value.user}${end}`))
    })
  },
)
