/** `seatgate seats export`. */

import { Document, visit } from 'yaml'
import { escapeVariables } from '../../config/environment.ts'
import { UNREADABLE } from '../../config/read-file.ts'
import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { READ } from '../remote/exits.ts'
import { idOf } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import type { SeatView } from '../remote/endpoint-answers.ts'
import { planOf } from './seats-plan.ts'

/** A merge key, unless it is in quotes. */
const MERGE = '<<'

export const exportSeats = defineCommand(
  {
    name: 'seats export',
    summary: 'Prints the Seats as a file for `seats plan` and `seats apply`.',
    details: 'It contains the Seats that the API key may see.',
    options: { ...REMOTE, json: { ...JSON_OUTPUT, description: 'prints JSON, which is also YAML' } },
    exits: READ,
    example: 'seatgate seats export > seats.yaml',
  },
  async ({ values }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { tenant } = await planOf(gateway, { seats: {} })
      const seats: [string, Pick<SeatView, 'spaces' | 'permissions'>][] = []
      for await (const page of gateway.pages<SeatView>('/v1/seats', idOf))
        for (const { name, spaces, permissions } of page)
          seats.push([escapeVariables(name), { spaces, permissions }])
      const content = { tenant, seats: Object.fromEntries(seats.toSorted(byName)) }
      const text = values.json ? JSON.stringify(content) : yamlOf(content)
      await terminal.print(escaped(text.trimEnd()))
    }),
)

/** By code unit: the same on every machine, so that exports can be compared. */
function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function yamlOf(content: object): string {
  const document = new Document(content, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, node) => {
      const { value } = node
      if (typeof value === 'string' && (value === MERGE || UNREADABLE.test(value))) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 100 })
}

/** They stand in double quotes alone, where JSON and YAML have the same escape. A file with them as they are is refused. */
function escaped(text: string): string {
  return text.replace(
    new RegExp(UNREADABLE, 'g'),
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
