/** `seatgate check`: loads the configuration as `start` does, and reports every fault at once. */

import { ConfigError } from '../config/faults.ts'
import { type Checked, checkOutput, FORMATS } from './check-output.ts'
import { defineCommand } from './command.ts'
import { loadWithTables } from './load.ts'
import { CONFIG, formatOption } from './options.ts'
import { packageRoot, versionOf } from './version.ts'

const WARNED = 3

export const check = defineCommand(
  {
    name: 'check',
    summary: 'Reports every fault of the configuration and its route tables as file:line:column: message.',
    details:
      'It loads them as `start` does. A warning is about what is legal, but perhaps unintentional; a comment `# seatgate: accept CODE` above the line accepts it.',
    options: {
      config: CONFIG,
      format: formatOption(FORMATS),
      strict: { type: 'boolean', description: 'ends with exit code 3 when there is a warning' },
      'no-env': {
        type: 'boolean',
        description: 'needs no variable and no certificate: settings that name them are not checked',
      },
    },
    exits: {
      0: 'there is no fault; there may be warnings',
      1: 'there are faults',
      3: 'with --strict: there is a warning',
    },
    example: 'seatgate check --config my/gateway.config.yaml --strict',
  },
  async ({ values }, terminal) => {
    const checked = await checkedFile(values.config, values['no-env'] ? null : terminal.env)
    const { out, err } = checkOutput(values.format, checked, versionOf(packageRoot()))
    if (err !== '') terminal.printError(err)
    if (out !== '') await terminal.print(out)
    if (checked.faults.length > 0) return 1
    return values.strict && checked.warnings.length > 0 ? WARNED : 0
  },
)

async function checkedFile(file: string, env: NodeJS.ProcessEnv | null): Promise<Checked> {
  try {
    const { config, table, warnings } = await loadWithTables(file, env)
    const routes = table.routes.filter(({ place }) => place !== null).length
    return { file, faults: [], warnings, routes, upstreams: config.upstreams.size }
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    return { file, faults: cause.faults, warnings: [], routes: 0, upstreams: 0 }
  }
}
