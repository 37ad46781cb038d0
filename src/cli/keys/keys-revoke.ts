/** `seatgate keys revoke`. */

import { printable } from '../../telemetry/readable.ts'
import { defineCommand } from '../command.ts'
import { WRITTEN } from '../remote/exits.ts'
import { confirmChange, YES } from '../remote/administration-prompt.ts'
import { findKey } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'

export const revokeKey = defineCommand(
  {
    name: 'keys revoke',
    summary: 'Revokes an API key: no instance accepts it from then on.',
    positionals: [{ name: 'KEY', description: 'name or id of the API key, not its text' }],
    options: { ...REMOTE, yes: YES },
    exits: WRITTEN,
    example: 'seatgate keys revoke nightly-export',
  },
  async ({ values, positionals: [given = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { id, name } = await findKey(gateway, given)
      await confirmChange(gateway, { seats: {}, revoke: [id] }, values.yes, terminal)
      await gateway.send(`/v1/api-keys/${id}`, { method: 'DELETE' })
      await terminal.print(printable(`revoked ${JSON.stringify(name)} ${id}`))
    }),
)
