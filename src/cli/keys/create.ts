/** `seatgate keys create`. */

import { printable } from '../../telemetry/readable.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../options.ts'
import { WRITTEN } from '../remote/exits.ts'
import { momentOf } from '../remote/moment.ts'
import { REMOTE, withGateway } from '../remote/options.ts'
import type { ApiKeyView } from '../remote/resources.ts'
import { warn } from '../seats/written.ts'

export const createKey = defineCommand(
  {
    name: 'keys create',
    summary: 'Creates an API key, and prints its text: it is not kept, and cannot be shown again.',
    details: 'The text is the only line on standard output.',
    positionals: [{ name: 'NAME', description: 'what it is for; need not be unique' }],
    options: {
      seat: {
        type: 'string',
        value: 'NAME',
        description: 'a Seat that it has',
        required: true,
        multiple: true,
      },
      expires: {
        type: 'string',
        value: 'TIME',
        description: 'when it expires: a duration such as 90d, or a date-time; left out: never',
      },
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: WRITTEN,
    example: 'seatgate keys create nightly-export --seat Viewer --expires 90d',
  },
  async ({ values, positionals: [name = ''] }, terminal) => {
    const expires = values.expires === undefined ? null : momentOf('--expires', values.expires)
    return withGateway(values, terminal, async (gateway) => {
      const body = { name, seats: values.seat, ...(expires === null ? {} : { expires_at: expires }) }
      const { value } = await gateway.send<ApiKeyView>('/v1/api-keys', { method: 'POST', body })
      const until = value.expires_at === undefined ? '' : `, until ${value.expires_at}`
      warn(value.warnings, terminal)
      terminal.printError(printable(`created API key ${JSON.stringify(value.name)} ${value.id}${until}`))
      try {
        await terminal.print(values.json ? JSON.stringify(value) : (value.key ?? ''))
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause)
        throw new CommandFailed(
          `its text could not be printed: revoke it with seatgate keys revoke ${value.id} (${why})`,
        )
      }
    })
  },
)
