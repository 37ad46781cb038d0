/** `seatgate who-can`: the Seats that grant a request or a permission, and the API keys and users that hold one. */

import { isPermission } from '../../seats-admin/model/permission.ts'
import { isSpaceId } from '../../seats-admin/model/space.ts'
import { tablesOf } from '../access/tables.ts'
import {
  asked,
  type Holder,
  type Holders,
  holdersPage,
  type Position,
  positionOf,
  type Question,
  questionOfPermission,
  questionOfRequest,
} from '../access/permission-holders.ts'
import { Refusal } from '../model/errors.ts'
import { UsageError } from './arguments.ts'
import { CommandFailed, defineCommand } from './command.ts'
import { withHolders } from './holder-source.ts'
import { EVERYTHING } from './seat-source.ts'
import { CONFIG, HOST, JSON_OUTPUT, METHODS, SEATS_FILE, SPACE, TENANT } from './shared-options.ts'
import { holdersAsJson, holdersAsText } from './who-can-output.ts'

/** Exit code: the gateway answers the request with 404 or 405. */
const NO_ROUTE = 3

export const whoCan = defineCommand(
  {
    name: 'who-can',
    summary:
      'Lists who can call a route: the Seats that grant it, and the API keys and users that hold one of them.',
    details:
      'Expired and revoked API keys are left out. A user holds the Seats of the latest sign-in; a blocked user is marked. Callers with tokens from other issuers are not known.',
    positionals: [
      { name: 'METHOD', description: 'the method of the request', optional: true, completes: METHODS },
      { name: 'PATH', description: 'its path', optional: true },
    ],
    options: {
      permission: { value: 'P', description: 'asks who holds this permission, instead of a request' },
      host: HOST,
      space: { ...SPACE, description: 'only in this space' },
      tenant: TENANT,
      seats: SEATS_FILE,
      config: CONFIG,
      json: JSON_OUTPUT,
    },
    exits: {
      0: 'the list was printed, even if it is empty',
      1: 'the configuration has faults, or the store cannot be read',
      3: 'no route matches',
    },
    example: 'seatgate who-can DELETE /v1/trainings/7 --space main --tenant acme',
  },
  async ({ values, positionals }, terminal) => {
    const [method = '', path = ''] = positionals
    const { permission, host = null, space = null } = values
    if (permission === undefined ? path === '' : method !== '')
      throw new UsageError('either METHOD and PATH, or --permission, is required')
    if (permission !== undefined && host !== null)
      throw new UsageError('--host belongs to METHOD and PATH, not to --permission')
    if (permission !== undefined && !isPermission(permission))
      throw new UsageError('--permission is not a permission: <resource>:<operation>, or *')
    if (space !== null && !isSpaceId(space)) throw new UsageError('--space is not a space id')
    return withHolders(values, terminal, async ({ config, table, tenant, lists }) => {
      if (values.seats !== undefined)
        terminal.printError(`note: API keys and users are not known: the Seats are those of ${values.seats}`)
      const question =
        permission === undefined
          ? questionOfRequest(tablesOf(config, table), { method, path, host, space })
          : questionOfPermission(permission, space)
      if (question instanceof Refusal)
        throw new CommandFailed(`the gateway refuses this request (${question.code}): ${question.detail}`)
      const pages = pagesOf(lists, tenant.id, question)
      const output = values.json
        ? holdersAsJson(asked(question, tenant.id), pages)
        : holdersAsText(question, tenant.id, pages)
      for await (const text of output) await terminal.print(text)
      return question.permission === null ? NO_ROUTE : 0
    })
  },
)

const PAGE = 1000

async function* pagesOf(
  lists: Holders,
  tenant: string,
  question: Question,
): AsyncGenerator<readonly Holder[]> {
  let after: Position | null = null
  for (let more = true; more;) {
    const page = { limit: PAGE, after, scope: EVERYTHING, now: Date.now() }
    const { found, hasMore }: Awaited<ReturnType<typeof holdersPage>> = await holdersPage(
      lists,
      tenant,
      question,
      page,
    )
    yield found
    const last = found.at(-1)
    if (last !== undefined) after = positionOf(last)
    more = hasMore && last !== undefined
  }
}
