/** `seatgate check`: loads the configuration as `start` does, and reports every fault at once. */

import { formatFault } from '../config/faults.ts'
import { defineCommand } from './command.ts'
import { loadWithTables } from './load.ts'
import { CONFIG } from './options.ts'

export const check = defineCommand(
  {
    name: 'check',
    summary: 'Reports every fault of the configuration and its route tables as file:line:column: message.',
    details: 'It loads them as `start` does. A warning is about what is legal, but perhaps unintentional.',
    options: { config: CONFIG },
    exits: { 0: 'there is no fault; there may be warnings', 1: 'there are faults' },
    example: 'seatgate check --config my/gateway.config.yaml',
  },
  async ({ values: { config: file } }, terminal) => {
    const { config, table, warnings } = await loadWithTables(file, terminal.env)
    for (const { place, message } of warnings)
      terminal.printError(formatFault({ place, message: `warning: ${message}` }))
    const own = table.routes.filter((route) => route.place !== null).length
    await terminal.print(
      `${file}: no faults (${count(own, 'route')}, ${count(config.upstreams.size, 'upstream')})`,
    )
  },
)

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
