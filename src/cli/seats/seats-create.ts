/** `seatgate seats create`. */

import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { WRITTEN } from '../remote/exits.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import type { SeatView } from '../remote/endpoint-answers.ts'
import { warn, writtenText } from './written.ts'

export const createSeat = defineCommand(
  {
    name: 'seats create',
    summary: 'Creates a Seat.',
    positionals: [{ name: 'NAME', description: 'name of the Seat, unique in the tenant' }],
    options: {
      in: { value: 'S', description: 'a space in which the Seat grants its permissions', multiple: true },
      permission: {
        value: 'P',
        description: 'a permission that the Seat grants, such as trainings:list',
        multiple: true,
      },
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: WRITTEN,
    example: 'seatgate seats create Viewer --in main --permission trainings:list',
  },
  async ({ values, positionals: [name = ''] }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const body = { name, spaces: values.in ?? [], permissions: values.permission ?? [] }
      const { value } = await gateway.send<SeatView>('/v1/seats', { method: 'POST', body })
      warn(value.warnings, terminal)
      const missing = [
        ...(body.spaces.length === 0 ? ['space (--in)'] : []),
        ...(body.permissions.length === 0 ? ['permission (--permission)'] : []),
      ]
      if (missing.length > 0)
        terminal.printError(`note: the Seat grants nothing, because it has no ${missing.join(' and no ')}`)
      await terminal.print(values.json ? JSON.stringify(value) : writtenText('created', value))
    }),
)
