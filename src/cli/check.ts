/** `seatgate check`: loads as `start` would and reports every fault at once. */

import { builtInPaths } from '../built-in.ts'
import { ConfigError, formatFault, sortFaults } from '../config/faults.ts'
import { loadConfigWithFaults } from '../config/load.ts'
import { compileTable } from '../router/table.ts'
import { type Command, DEFAULT_CONFIG, readArguments } from './command.ts'

export const check: Command = {
  usage: 'check [--config FILE]',
  summary: 'Reports every fault of the configuration and its route tables as file:line:column: message.',
  async run(args, terminal) {
    const { values } = readArguments(args, { config: { type: 'string' } })
    const file = values.config ?? DEFAULT_CONFIG
    const loaded = await loadConfigWithFaults(file, terminal.env)
    const { table, faults, warnings } = compileTable(loaded.entries, loaded.upstreams, builtInPaths())
    const all = sortFaults([...loaded.faults, ...faults])
    if (all.length > 0) throw new ConfigError(all)
    for (const { place, message } of warnings)
      terminal.complain(formatFault({ place, message: `warning: ${message}` }))
    const own = table.routes.filter((route) => route.place !== null).length
    await terminal.print(
      `${file}: no faults (${count(own, 'route')}, ${count(loaded.upstreams.size, 'upstream')})`,
    )
  },
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
