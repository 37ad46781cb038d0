/** `seatgate users unblock`. */

import { printable } from '../../telemetry/readable.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { WRITTEN } from '../remote/exits.ts'
import { findBlock, findUser } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/options.ts'

export const unblockUser = defineCommand(
  {
    name: 'users unblock',
    summary: 'Ends the block of a user.',
    positionals: [{ name: 'USER', description: '`sub` or email address of a user' }],
    options: REMOTE,
    exits: WRITTEN,
    example: 'seatgate users unblock anna@example.com',
  },
  async ({ values, positionals: [given = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const block =
        (await findBlock(gateway, given)) ??
        (await findBlock(gateway, (await findUser(gateway, given))?.sub ?? given))
      if (block === null) throw new CommandFailed(printable(`${JSON.stringify(given)} is not blocked`))
      await gateway.send(`/v1/blocks/${block.id}`, { method: 'DELETE' })
      await terminal.print(printable(`unblocked ${block.user}`))
    }),
)
