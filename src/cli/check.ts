/** `seatgate check`: loads the configuration as `start` does, and reports every fault at once. */

import { formatFault } from '../config/faults.ts'
import { type Command, DEFAULT_CONFIG, readArguments } from './command.ts'
import { loadWithTables } from './load.ts'

export const check: Command = {
  usage: 'check [--config FILE]',
  summary: 'Reports every fault of the configuration and its route tables as file:line:column: message.',
  async run(args, terminal) {
    const { values } = readArguments(args, { config: { type: 'string' } })
    const file = values.config ?? DEFAULT_CONFIG
    const { config, table, warnings } = await loadWithTables(file, terminal.env)
    for (const { place, message } of warnings)
      terminal.printError(formatFault({ place, message: `warning: ${message}` }))
    const own = table.routes.filter((route) => route.place !== null).length
    await terminal.print(
      `${file}: no faults (${count(own, 'route')}, ${count(config.upstreams.size, 'upstream')})`,
    )
  },
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
