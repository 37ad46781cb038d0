/** `seatgate tables history` and `tables pull`: the versions of the route tables in the store. */

import { JSON_OUTPUT, versionNumber } from '../arguments.ts'
import { CommandFailed, defineCommand, type Terminal } from '../command.ts'
import { limitOf } from '../limited-list.ts'
import { confirm } from '../remote/administration-prompt.ts'
import type { ActiveTablesView, ListedTables } from '../remote/endpoint-answers.ts'
import { READ } from '../remote/exits.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { names, printList, shortTime } from '../remote/list-output.ts'
import { plural } from '../screen.ts'
import { filesOf } from './tables-commands.ts'
import { type FolderChanges, folderChanges, writeFolder } from './tables-folder.ts'

/** The most versions of one list. */
const MOST = 100_000
/** The versions of one page. */
const PAGE = 100

const COLUMNS = [
  { name: 'version', width: 7, of: ({ version }: ListedTables) => String(version) },
  { name: 'at', width: 20, of: ({ created_at: at }: ListedTables) => shortTime(at ?? '') },
  { name: 'hash', width: 12, of: ({ hash }: ListedTables) => hash ?? '' },
  { name: 'routes', width: 6, of: ({ entries }: ListedTables) => String(entries) },
  { name: 'by', width: 27, of: ({ created_by: by }: ListedTables) => by?.name ?? by?.id ?? '' },
]

export const history = defineCommand({
  name: 'tables history',
  summary:
    'Lists the versions of the route tables, the newest first, with when and by whom they were pushed.',
  details: 'The first one is active. It requires tables:read in the admin space.',
  options: {
    limit: { value: 'N', description: 'at most N versions, 20 by default' },
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  exits: READ,
  example: 'seatgate tables history --limit 5',
  run: async ({ values }, terminal) => {
    const limit = limitOf(values.limit, MOST)
    return withGateway(values, terminal, (gateway) =>
      printList(
        versionPages(gateway, limit),
        { columns: COLUMNS, json: values.json, none: 'no tables were pushed' },
        terminal,
      ),
    )
  },
})

async function* versionPages(gateway: Gateway, limit: number): AsyncGenerator<readonly ListedTables[]> {
  let left = limit
  for (let after: number | null = null; left > 0;) {
    const query: { limit: number; after: number | null } = { limit: Math.min(PAGE, left), after }
    const page = await gateway.get<ActiveTablesView>('/v1/tables', query)
    yield page.versions
    left -= page.versions.length
    after = page.versions.at(-1)?.version ?? null
    if (!page.has_more || after === null) return
  }
}

export const pull = defineCommand({
  name: 'tables pull',
  summary: 'Writes the route tables of the store into a folder.',
  details:
    'Files of the folder that differ are not overwritten, and those that the version does not have are not removed, unless --force is given. It requires tables:read in the admin space.',
  positionals: [
    {
      name: 'FOLDER',
      description: 'the folder for the files; it is created if it is missing',
      completes: 'folder',
    },
  ],
  options: {
    version: { value: 'N', description: 'an earlier version; by default, the active one' },
    force: { description: 'overwrites files that differ, and removes those that the version does not have' },
    ...REMOTE,
  },
  exits: {
    0: 'the folder has the files of the version',
    1: 'a file differs, or the gateway refused the request or could not be reached; nothing was written, unless the message says so',
  },
  example: 'seatgate tables pull routes',
  run: async ({ values, positionals: [folder = ''] }, terminal) => {
    const wanted = values.version === undefined ? null : versionNumber('--version', values.version)
    return withGateway(values, terminal, async (gateway) => {
      const active = wanted === null ? await gateway.get<ActiveTablesView>('/v1/tables', { limit: 1 }) : null
      const version = wanted ?? active?.version ?? 0
      if (version === 0) throw new CommandFailed('nothing was written: no tables were pushed')
      const files = active?.files ?? (await filesOf(gateway, version))
      const changes = folderChanges(folder, files)
      if (values.force !== true) {
        refuseReplacing(folder, changes)
        await confirmRemoval(folder, version, changes, terminal)
      }
      writeFolder(folder, files, changes)
      await terminal.print(pulledText(folder, version, changes))
    })
  },
})

function refuseReplacing(folder: string, { replaced }: FolderChanges): void {
  if (replaced.length === 0) return
  const subject = replaced.length === 1 ? 'a file differs' : `${replaced.length} files differ`
  throw new CommandFailed(
    `nothing was written: ${subject} in ${folder}, ${names(replaced)}; --force overwrites`,
  )
}

function confirmRemoval(
  folder: string,
  version: number,
  { removed }: FolderChanges,
  terminal: Terminal,
): Promise<void> {
  if (removed.length === 0) return Promise.resolve()
  const question = `Remove ${names(removed)} from ${folder}, which version ${version} does not have?`
  const change = `${names(removed)} in ${folder} would be removed`
  return confirm({ question, change }, undefined, terminal, '--force')
}

function pulledText(
  folder: string,
  version: number,
  { added, replaced, removed, unchanged }: FolderChanges,
): string {
  const counts = [
    [added.length + replaced.length, 'written'],
    [removed.length, 'removed'],
    [unchanged.length, 'unchanged'],
  ] as const
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${plural(count, 'file')} ${what}`)
  return `${folder} has version ${version}: ${parts.join(', ')}`
}
