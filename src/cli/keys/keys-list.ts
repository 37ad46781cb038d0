/** `seatgate keys list`. */

import { defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { READ } from '../remote/exits.ts'
import { idOf } from '../remote/find.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { printList, shortTime } from '../remote/list-output.ts'
import type { ApiKeyView } from '../remote/endpoint-answers.ts'

const COLUMNS = [
  { name: 'id', width: 26, of: ({ id }: ApiKeyView) => id },
  { name: 'name', width: 16, of: ({ name }: ApiKeyView) => name },
  { name: 'seats', width: 14, of: ({ seats }: ApiKeyView) => seats },
  { name: 'state', width: 18, of: stateOf },
]

export const listKeys = defineCommand(
  {
    name: 'keys list',
    summary: 'Lists the API keys that the API key may see, in order of creation.',
    details: 'The text of a key is not stored. --json includes the times of creation and of the last use.',
    options: {
      all: { description: 'includes revoked and expired keys' },
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: READ,
    example: 'seatgate keys list',
  },
  async ({ values }, terminal) =>
    withGateway(values, terminal, (gateway) =>
      printList(
        values.all === true
          ? gateway.pages<ApiKeyView>('/v1/api-keys', idOf)
          : inForce(gateway.pages<ApiKeyView>('/v1/api-keys', idOf)),
        { columns: COLUMNS, json: values.json, none: 'no API keys in force' },
        terminal,
      ),
    ),
)

async function* inForce(pages: AsyncIterable<ApiKeyView[]>): AsyncGenerator<ApiKeyView[]> {
  for await (const page of pages) yield page.filter((key) => key.revoked_at === undefined && !hasExpired(key))
}

function hasExpired({ expires_at: end }: ApiKeyView): boolean {
  return end !== undefined && Date.parse(end) <= Date.now()
}

function stateOf(key: ApiKeyView): string {
  const { revoked_at: revoked, expires_at: end } = key
  if (revoked !== undefined) return `revoked ${day(revoked)}`
  if (hasExpired(key)) return `expired ${day(end ?? '')}`
  return end === undefined ? 'in force' : `until ${day(end)}`
}

function day(time: string): string {
  return shortTime(time).slice(0, 10)
}
