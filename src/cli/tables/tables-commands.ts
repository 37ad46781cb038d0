/** `seatgate tables`: plans, pushes and rolls back the route tables in the store, through a gateway. */

import { JSON_OUTPUT, UsageError, versionNumber } from '../arguments.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { changesAsMarkdown, changesAsText, DIFFERENT } from '../difference-output.ts'
import type { TablesVersionView } from '../remote/endpoint-answers.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { planOfTables, pushTables, setOfFolder } from './push-tables.ts'
import { readTablesFolder } from './tables-folder.ts'

const FOLDER = {
  name: 'FOLDER',
  description: 'the folder whose .yaml and .yml files are the route tables, without the folders in it',
  completes: 'folder',
} as const
const YES = { description: 'does not ask for confirmation' } as const

const PUSHED = {
  0: 'done: no live gateway decides by the former tables',
  1: 'the files have faults, another push came between, or the gateway refused the request or could not be reached; nothing was changed, unless the message says that it may have been',
} as const

export const planTables = defineCommand({
  name: 'tables plan',
  summary: 'Shows what a push of route tables would change, and who gains and who loses.',
  details:
    'The gateway compares the files with the active tables, and checks them with its configuration. It requires tables:read in the admin space. The differences are those of `seatgate diff`, with the Seats, users and API keys of the tenant as they are.',
  positionals: [FOLDER],
  options: {
    ...REMOTE,
    json: JSON_OUTPUT,
    markdown: { description: 'prints Markdown for a pull request' },
  },
  exits: {
    0: 'each request is answered as before',
    1: 'the files have faults, or the gateway refused the request or could not be reached',
    3: 'there are differences',
  },
  example: 'seatgate tables plan routes --markdown',
  run: async ({ values, positionals: [folder = ''] }, terminal) => {
    if (values.json && values.markdown) throw new UsageError('--json and --markdown exclude each other')
    const set = setOfFolder(folder, readTablesFolder(folder))
    return withGateway(values, terminal, async (gateway) => {
      const plan = await planOfTables(gateway, set, terminal)
      if (values.json) await terminal.print(JSON.stringify(plan, null, 2))
      else await terminal.print((values.markdown ? changesAsMarkdown : changesAsText)(plan.changes))
      return plan.equal ? 0 : DIFFERENT
    })
  },
})

export const push = defineCommand({
  name: 'tables push',
  summary: 'Replaces the route tables of all gateways by the files of a folder.',
  details:
    'It prints the plan, asks, and pushes on exactly the version that it has planned on. Each live gateway compiles the files first: if one cannot use them, nothing changes. It requires tables:read and tables:update in the admin space.',
  positionals: [FOLDER],
  options: {
    config: {
      value: 'FILE',
      description:
        'writes the files into the store of this configuration, from where gateways read them that start with `tables: store`; refused while a gateway has its tables there',
      completes: 'file',
    },
    ...REMOTE,
    yes: YES,
    json: JSON_OUTPUT,
  },
  exits: { ...PUSHED, 0: `${PUSHED[0]}; with --config: the store has the files` },
  example: 'seatgate tables push routes --yes',
  run: async ({ values, positionals: [folder = ''] }, terminal) => {
    const { config, ...remote } = values
    const other = (['url', 'api-key', 'space', 'ca'] as const).find((name) => values[name] !== undefined)
    if (config !== undefined && other !== undefined)
      throw new UsageError(`--config and --${other} exclude each other`)
    const set = setOfFolder(folder, readTablesFolder(folder))
    if (config === undefined)
      return withGateway(remote, terminal, (gateway) => pushTables(gateway, folder, set, values, terminal))
    // The store and the router take a fifth of a second to load.
    const { storeTables } = await import('./store-tables.ts')
    return storeTables(config, folder, set, values, terminal)
  },
})

export const rollback = defineCommand({
  name: 'tables rollback',
  summary: 'Pushes the files of an earlier version of the route tables.',
  details:
    'It prints the plan and asks, as `seatgate tables push` does. The files become a new version. It requires tables:read and tables:update in the admin space.',
  positionals: [
    { name: 'VERSION', description: 'number of the version; `seatgate tables history` lists them' },
  ],
  options: { ...REMOTE, yes: YES, json: JSON_OUTPUT },
  exits: PUSHED,
  example: 'seatgate tables rollback 12',
  run: async ({ values, positionals: [text = ''] }, terminal) => {
    const version = versionNumber('VERSION', text)
    return withGateway(values, terminal, async (gateway) => {
      const files = await filesOf(gateway, version)
      const set = { files, placeOf: (file: string) => `tables:${version}:${file}` }
      await pushTables(gateway, `the files of version ${version}`, set, values, terminal)
    })
  },
})

/** The files of a version. @throws CommandFailed if they are gone */
export async function filesOf(gateway: Gateway, version: number): Promise<Readonly<Record<string, string>>> {
  const { files } = await gateway.get<TablesVersionView>(`/v1/tables/${version}`)
  if (files === null)
    throw new CommandFailed(
      `the files of version ${version} are gone: those of the newest 100 versions are kept`,
    )
  return files
}
