/** `seatgate diff`: what a change of the route tables changes, over all requests that there can be. */

import { changesOf } from '../access/access-change.ts'
import { differences } from '../access/difference.ts'
import { JSON_OUTPUT, SEATS_FILE, TENANT } from './arguments.ts'
import { defineCommand } from './command.ts'
import { changesAsMarkdown, changesAsText, DIFFERENT } from './difference-output.ts'
import { grantingSeats } from './seat-source.ts'
import { readTables } from './table-source.ts'

const WHERE =
  'a configuration file, its folder, git:REV for the file at a revision, or tables:VERSION of the store in gateway.config.yaml; prefix it with shadow: for its candidate tables'

export const diff = defineCommand({
  name: 'diff',
  summary:
    'Proves that two sets of route tables are equal, or shows each difference with an example request.',
  details:
    'It compares the answers to every possible request, not the text: moving or splitting an entry changes nothing. 404 and 405 count as the same. Environment variables are not needed.',
  positionals: [
    { name: 'OLD', description: WHERE, completes: 'file' },
    { name: 'NEW', description: WHERE, completes: 'file' },
  ],
  options: {
    tenant: {
      ...TENANT,
      description:
        "shows which of this tenant's Seats gain or lose access; takes them from the store of NEW, or from the file given with --seats",
    },
    seats: SEATS_FILE,
    json: JSON_OUTPUT,
    markdown: { description: 'prints Markdown for a pull request' },
  },
  exits: { 0: 'the tables are equal', 1: 'one of them has faults', 3: 'there are differences' },
  example: 'seatgate diff git:main gateway.config.yaml --markdown',
  run: async ({ values, positionals }, terminal) => {
    const [old = '', latest = ''] = positionals
    const before = await readTables(old, terminal)
    const after = await readTables(latest, terminal)
    const seats = await grantingSeats(values, after.file, terminal)
    const changes = changesOf(differences(before.tables, after.tables), seats)
    const equal = changes.length === 0
    if (values.json) await terminal.print(JSON.stringify({ equal, changes }, null, 2))
    else await terminal.print((values.markdown ? changesAsMarkdown : changesAsText)(changes))
    return equal ? 0 : DIFFERENT
  },
})
