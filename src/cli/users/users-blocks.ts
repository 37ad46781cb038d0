/** `seatgate users blocks`. */

import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { AuthorNames } from '../remote/author-names.ts'
import { READ } from '../remote/exits.ts'
import { idOf } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { printList, shortTime } from '../remote/list-output.ts'
import type { BlockView } from '../remote/endpoint-answers.ts'

interface NamedBlock extends BlockView {
  readonly by: string
}

const COLUMNS = [
  { name: 'user', width: 20, of: ({ user }: NamedBlock) => user },
  { name: 'until', width: 20, of: ({ until }: NamedBlock) => (until === undefined ? '' : shortTime(until)) },
  { name: 'by', width: 14, of: ({ by }: NamedBlock) => by },
  { name: 'reason', width: 20, of: ({ reason }: NamedBlock) => reason ?? '' },
]

export const listBlocks = defineCommand(
  {
    name: 'users blocks',
    summary: 'Lists the blocks in force: who is blocked, until when, by whom and why.',
    details:
      'An API key that made a block is shown by name if you have the permission api-keys:read. --json always has its id.',
    options: { ...REMOTE, json: JSON_OUTPUT },
    exits: READ,
    example: 'seatgate users blocks',
  },
  async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) => {
      const blocks = gateway.pages<BlockView>('/v1/blocks', idOf)
      const shown = { json: values.json, none: 'no blocks' }
      return values.json === true
        ? printList(blocks, { columns: [], ...shown }, terminal)
        : printList(named(blocks, new AuthorNames(gateway)), { columns: COLUMNS, ...shown }, terminal)
    }),
)

async function* named(
  pages: AsyncIterable<readonly BlockView[]>,
  names: AuthorNames,
): AsyncGenerator<NamedBlock[]> {
  for await (const page of pages) {
    const found: NamedBlock[] = []
    for (const block of page) found.push({ ...block, by: await names.nameOf(block.created_by) })
    yield found
  }
}
