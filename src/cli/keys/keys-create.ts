/** `seatgate keys create`. */

import { printable } from '../../telemetry/readable.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { KEY_FILE, openKeyFile } from '../key-file.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { WRITTEN } from '../remote/exits.ts'
import { withNearSeats } from '../remote/find.ts'
import { momentOf } from '../remote/moment.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import type { ApiKeyView } from '../remote/endpoint-answers.ts'
import { warn } from '../seats/written.ts'

export const createKey = defineCommand(
  {
    name: 'keys create',
    summary: 'Creates an API key and prints its text, which is not stored and cannot be shown again.',
    details:
      'The text is the only line on standard output. With --out, it is written to the file and not printed.',
    positionals: [{ name: 'NAME', description: 'what the key is for; it does not have to be unique' }],
    options: {
      seat: { value: 'NAME', description: 'a Seat that the key holds', required: true, multiple: true },
      expires: {
        value: 'TIME',
        description: 'when the key expires: a duration such as 90d, or a date-time; by default, never',
      },
      out: KEY_FILE,
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: WRITTEN,
    example: 'seatgate keys create nightly --seat Viewer --expires 90d --out nightly.key',
  },
  async ({ values, positionals: [name = ''] }, terminal) => {
    const expires = values.expires === undefined ? null : momentOf('--expires', values.expires)
    return withGateway(values, terminal, async (gateway) => {
      const body = { name, seats: values.seat, ...(expires === null ? {} : { expires_at: expires }) }
      const file = values.out === undefined ? null : await openKeyFile(values.out)
      try {
        const { value } = await gateway
          .send<ApiKeyView>('/v1/api-keys', { method: 'POST', body })
          .catch(async (cause: unknown) => {
            throw cause instanceof GatewayRefusal ? await withNearSeats(gateway, cause, body.seats) : cause
          })
        const until = value.expires_at === undefined ? '' : `, until ${value.expires_at}`
        warn(value.warnings, terminal)
        await file?.write(value.key ?? '').catch((cause: unknown) => {
          throw notKept(value, 'written', cause)
        })
        terminal.printError(printable(`created API key ${JSON.stringify(value.name)} ${value.id}${until}`))
        const text = values.json ? asJson(value, values.out) : (values.out ?? value.key ?? '')
        await terminal.print(text).catch((cause: unknown) => {
          throw file === null ? notKept(value, 'printed', cause) : cause
        })
      } finally {
        await file?.close()
      }
    })
  },
)

/** @param file that has the key in place of the output */
function asJson({ key, ...rest }: ApiKeyView, file: string | undefined): string {
  return JSON.stringify(file === undefined ? { ...rest, key } : { ...rest, key_file: file })
}

/** The gateway has only the hash: a key that is not kept is lost. */
function notKept({ id }: ApiKeyView, done: 'printed' | 'written', cause: unknown): CommandFailed {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new CommandFailed(
    `its text could not be ${done}: revoke it with seatgate keys revoke ${id} (${why})`,
  )
}
