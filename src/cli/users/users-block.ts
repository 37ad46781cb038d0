/** `seatgate users block`. */

import { printable } from '../../telemetry/readable.ts'
import { CommandFailed, defineCommand, type Terminal } from '../command.ts'
import { quoted } from '../near-names.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { WRITTEN } from '../remote/exits.ts'
import { confirmChange, YES } from '../remote/administration-prompt.ts'
import { findUser, meantUser } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { momentOf } from '../remote/moment.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import type { BlockView } from '../remote/endpoint-answers.ts'

export const blockUser = defineCommand(
  {
    name: 'users block',
    summary:
      'Blocks a user: every token and session of the user is refused, and open WebSockets and streams are closed.',
    details:
      'An email address must belong to a user who has signed in. A `sub` may be unknown, because tokens from other issuers also have one.',
    positionals: [{ name: 'USER', description: '`sub` or email address of the user' }],
    options: {
      until: {
        value: 'TIME',
        description:
          'when the block ends: a duration such as 7d, or a date-time; by default, when the user is unblocked',
      },
      sub: { description: 'takes USER as a `sub`, even if it is not known from a sign-in' },
      reason: { value: 'TEXT', description: 'the reason, for people to read; it appears in the audit' },
      ...REMOTE,
      yes: YES,
      json: JSON_OUTPUT,
    },
    exits: WRITTEN,
    example: 'seatgate users block anna@example.com --until 7d',
  },
  async ({ values, positionals: [given = ''] }, terminal) => {
    const { reason } = values
    const until = values.until === undefined ? undefined : momentOf('--until', values.until)
    return withGateway(values, terminal, async (gateway) => {
      const user = values.sub ? given : await subOf(gateway, given, terminal)
      const body = {
        user,
        ...(until === undefined ? {} : { until }),
        ...(reason === undefined ? {} : { reason }),
      }
      await confirmChange(gateway, { seats: {}, block: [user] }, values.yes, terminal)
      const { value } = await gateway.send<BlockView>('/v1/blocks', { method: 'POST', body })
      const end = value.until === undefined ? '' : ` until ${value.until}`
      await terminal.print(values.json ? JSON.stringify(value) : printable(`blocked ${value.user}${end}`))
    })
  },
)

/** @throws CommandFailed for an email address that no known user has: a block of it would block no token */
async function subOf(gateway: Gateway, given: string, terminal: Terminal): Promise<string> {
  const known = await findUser(gateway, given)
  if (known !== null) return known.sub
  const near = await meantUser(gateway, given)
  if (given.includes('@'))
    throw new CommandFailed(
      `no user with the address ${quoted(given)} has signed in${near}: with --sub it is taken as a sub`,
    )
  terminal.printError(`note: no sign-in of ${quoted(given)} is known${near}: it is taken as a sub`)
  return given
}
