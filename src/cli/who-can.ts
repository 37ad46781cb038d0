/** `seatgate who-can`: the Seats that grant a request or a permission, and who holds one of them. */

import { methodAndPath } from '../access/mcp-questions.ts'
import { isPermission } from '../../seats-admin/model/permission.ts'
import { listsExactly, type SeatsFrom } from '../../seats-admin/model/seats-from.ts'
import { isSpaceId } from '../../seats-admin/model/space.ts'
import {
  queryView,
  type Holder,
  type Holders,
  holdersPage,
  isForTenant,
  type Position,
  positionOf,
  type HoldersQuery,
  queryOfPermission,
  queryOfRequest,
} from '../access/permission-holders.ts'
import { tablesOf } from '../access/tables.ts'
import { seatsFromOf } from '../config/seats-source.ts'
import { Refusal } from '../model/errors.ts'
import { printable } from '../telemetry/readable.ts'
import {
  CONFIG,
  HOST,
  HOST_IS_MISSING,
  JSON_OUTPUT,
  METHODS,
  SEATS_FILE,
  TENANT,
  UsageError,
} from './arguments.ts'
import { CommandFailed, defineCommand } from './command.ts'
import { names, shortTime } from './remote/list-output.ts'
import { plural, fold } from './screen.ts'
import { EVERYTHING, withHolders } from './seat-source.ts'

/** The exit code if the gateway answers the request with 404 or 405. */
const NO_ROUTE = 3

export const whoCan = defineCommand({
  name: 'who-can',
  summary:
    'Lists who can call a route: the Seats that grant it, and the API keys and users that hold one of them.',
  details:
    'Expired and revoked API keys are left out, and those of blocked owners. A user holds the Seats of the latest sign-in (with seats_from: scim, of the groups now), and those of grants until these end; a blocked user is marked. Callers with tokens from other issuers are not known.',
  positionals: [
    { name: 'METHOD', description: 'the method of the request', optional: true, completes: METHODS },
    {
      name: 'PATH',
      description:
        'its path; for a call of an MCP server, "tool NAME", "prompt NAME" or "resource URI" stands for both',
      optional: true,
    },
  ],
  options: {
    permission: { value: 'P', description: 'asks who holds this permission, instead of a request' },
    host: HOST,
    space: { value: 'S', description: 'only in this space' },
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
  run: async ({ values, positionals }, terminal) => {
    const [method = '', path = ''] = methodAndPath(positionals)
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
      if (permission === undefined && host === null && table.hosts !== null)
        terminal.printError(HOST_IS_MISSING)
      const question =
        permission === undefined
          ? queryOfRequest(tablesOf(config, table), { method, path, host, space })
          : queryOfPermission(permission, space)
      if (question instanceof Refusal)
        throw new CommandFailed(`the gateway refuses this request (${question.code}): ${question.detail}`)
      const pages = pagesOf(lists, tenant.id, question)
      const seatsFrom = seatsFromOf(config)(tenant.id)
      const exact = values.seats === undefined && listsExactly(seatsFrom)
      const output = values.json
        ? holdersAsJson(queryView(question, tenant.id, exact), pages)
        : holdersAsText(question, { tenant: tenant.id, seatsFrom, exact }, pages)
      for await (const text of output) await terminal.print(text)
      return question.permission === null ? NO_ROUTE : 0
    })
  },
})

const PAGE = 1000

async function* pagesOf(
  lists: Holders,
  tenant: string,
  question: HoldersQuery,
): AsyncGenerator<readonly Holder[]> {
  for (let after: Position | null = null; ;) {
    const page = { limit: PAGE, after, scope: EVERYTHING, now: Date.now() }
    const { holders, hasMore }: Awaited<ReturnType<typeof holdersPage>> = await holdersPage(
      lists,
      tenant,
      question,
      page,
    )
    yield holders
    const last = holders.at(-1)
    if (!hasMore || last === undefined) return
    after = positionOf(last)
  }
}

/** Pages of holders, which are printed one by one: a tenant may have a million Seats. */
type Pages = AsyncIterable<readonly Holder[]>

/** The kinds of holders, in the order of the pages. */
const LISTS = [
  ['seat', 'seats', 'Seats'],
  ['api-key', 'api_keys', 'API keys'],
  ['user', 'users', 'Users'],
] as const

/** One JSON object, with a line for each item. */
async function* holdersAsJson(head: ReturnType<typeof queryView>, pages: Pages): AsyncGenerator<string> {
  let open = 0
  let first = true
  yield `${JSON.stringify(head).slice(0, -1)},"seats":[`
  const begin = (kind: Holder['kind']): string[] => {
    const lines: string[] = []
    while (LISTS[open]?.[0] !== kind) {
      open++
      lines.push(`],"${LISTS[open]?.[1]}":[`)
      first = true
    }
    return lines
  }
  for await (const page of pages) {
    const lines = page.flatMap(({ kind, view }) => {
      const before = begin(kind)
      const line = `${first ? ' ' : ','}${JSON.stringify(view)}`
      first = false
      return [...before, line]
    })
    if (lines.length > 0) yield lines.join('\n')
  }
  yield [...begin('user'), ']}'].join('\n')
}

/** The tenant, what gives its users their Seats, and whether the users of the answer are exact. */
interface About {
  readonly tenant: string
  readonly seatsFrom: SeatsFrom
  readonly exact: boolean
}

function usersBy({ seatsFrom, exact }: About): string {
  if (seatsFrom === null) return 'Users, by their latest sign-in or a grant'
  return exact
    ? 'Users, exactly: by their SCIM groups now or a grant'
    : 'Users who have signed in, by their SCIM groups now or a grant'
}

async function* holdersAsText(question: HoldersQuery, about: About, pages: Pages): AsyncGenerator<string> {
  const { tenant, exact } = about
  yield printable(heading(question))
  if (!isForTenant(question, tenant)) {
    yield `tenant ${tenant}: none of its callers can, as the route is for those of tenant ${question.route?.tenant}`
    return
  }
  if (question.permission === null || FREE[question.permission] !== undefined) return
  const where = question.space === null ? 'in any space' : `in ${question.space}`
  yield `tenant ${tenant}, ${where}`
  const counts = { seat: 0, 'api-key': 0, user: 0 }
  for await (const page of pages)
    for (const holder of page) {
      if (counts[holder.kind]++ === 0)
        yield `\n${holder.kind === 'user' ? usersBy(about) : LISTS.find(([kind]) => kind === holder.kind)?.[2]}`
      yield printable(`  ${lineOf(holder, question.space === null)}`)
    }
  const summary = `${plural(counts.seat, 'Seat')}, ${plural(counts['api-key'], 'API key')}, ${plural(counts.user, 'user')}`
  const bound = exact ? 'The users are exact' : 'The users are not exact'
  yield fold(`${summary}. ${bound}. Callers with tokens of other issuers are not known.`, '\n', '')
}

const FREE: Readonly<Record<string, string>> = {
  public: 'is public: every caller can, without a credential',
  authenticated: 'is open to every caller with a valid credential, whatever the Seats',
}

function heading({ method, host, path, route, permission }: HoldersQuery): string {
  if (method === null) return `who holds ${permission}`
  if (route === null || permission === null) return `no route matches ${method} ${host ?? ''}${path}`
  const place = route.place === null ? 'built in' : `${route.place.file}:${route.place.line}`
  return `${route.id} (${place}) ${FREE[permission] ?? `requires ${permission}`}`
}

/** The most names on one line. */
const MOST_NAMES = 5

function lineOf({ kind, view }: Holder, anySpace: boolean): string {
  if (kind === 'seat') {
    const where = anySpace ? ` in ${names(view.spaces, MOST_NAMES)}` : ''
    return `"${view.name}"${where}${view.by === '*' ? ' (holds *)' : ''}`
  }
  const ends = new Map<string, string>()
  // Times of one form are in the order of their texts.
  for (const { seat, until } of (kind === 'user' && view.grants) || [])
    if (until > (ends.get(seat) ?? '')) ends.set(seat, until)
  const seats = `by ${names(
    view.seats.map((name) => {
      const end = ends.get(name)
      return `"${name}"${end === undefined ? '' : ` until ${shortTime(end)}`}`
    }),
    MOST_NAMES,
  )}`
  if (kind === 'user') {
    const seen = view.last_sign_in === null ? '' : `, ${view.last_sign_in}`
    const blocked = view.blocked ? ', BLOCKED' : ''
    return `${view.sub}${view.email === null ? '' : ` <${view.email}>`} ${seats}${seen}${blocked}`
  }
  const owner = view.owner === null ? '' : `, owned by ${view.owner}`
  const expiry = view.expires_at === null ? '' : `, expires ${view.expires_at}`
  const used = view.last_used_at === null ? '' : `, last used ${view.last_used_at}`
  return `"${view.name}" ${view.id} ${seats}${owner}${expiry}${used}`
}
