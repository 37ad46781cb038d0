/** `seatgate users unblock`. */

import { printable } from '../../telemetry/readable.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { quoted } from '../near-names.ts'
import { WRITTEN } from '../remote/exits.ts'
import { findBlock, findUser, meantBlocked } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'

export const unblockUser = defineCommand(
  {
    name: 'users unblock',
    summary: 'Ends the block of a user.',
    positionals: [{ name: 'USER', description: '`sub` or email address of the user' }],
    options: REMOTE,
    exits: WRITTEN,
    example: 'seatgate users unblock anna@example.com',
  },
  async ({ values, positionals: [given = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const block =
        (await findBlock(gateway, given)) ??
        (await findBlock(gateway, (await findUser(gateway, given))?.sub ?? given))
      if (block === null)
        throw new CommandFailed(
          `${quoted(given)} is not blocked${await meantBlocked(gateway, given)}: "seatgate users blocks" lists the users who are`,
        )
      await gateway.send(`/v1/blocks/${block.id}`, { method: 'DELETE' })
      await terminal.print(printable(`unblocked ${block.user}`))
    }),
)
