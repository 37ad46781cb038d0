/** `seatgate users blocks`. */

import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { READ } from '../remote/exits.ts'
import { idOf } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { printList, shortTime } from '../remote/list-output.ts'
import type { BlockView } from '../remote/endpoint-answers.ts'

const COLUMNS = [
  { name: 'user', width: 20, of: ({ user }: BlockView) => user },
  { name: 'until', width: 20, of: ({ until }: BlockView) => (until === undefined ? '' : shortTime(until)) },
  { name: 'by', width: 14, of: ({ created_by: by }: BlockView) => by },
  { name: 'reason', width: 20, of: ({ reason }: BlockView) => reason ?? '' },
]

export const listBlocks = defineCommand(
  {
    name: 'users blocks',
    summary: 'Lists the blocks in force: who is blocked, until when, by whom and why.',
    options: { ...REMOTE, json: JSON_OUTPUT },
    exits: READ,
    example: 'seatgate users blocks',
  },
  async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) =>
      printList(
        gateway.pages<BlockView>('/v1/blocks', idOf),
        { columns: COLUMNS, json: values.json, none: 'no blocks' },
        terminal,
      ),
    ),
)
