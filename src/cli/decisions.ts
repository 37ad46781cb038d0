/** `seatgate decisions`: the newest decisions on requests of a tenant, from a gateway. */

import { setTimeout as sleep } from 'node:timers/promises'
import { answerCode } from '../config/policy-file.ts'
import { JSON_OUTPUT, parsedOption } from './arguments.ts'
import { CommandFailed, defineCommand, type Terminal } from './command.ts'
import { collected, DEFAULT_LIMIT, limitOf, type Listed } from './limited-list.ts'
import type { DecisionView } from './remote/endpoint-answers.ts'
import { READ } from './remote/exits.ts'
import type { Gateway } from './remote/gateway-client.ts'
import { REMOTE, withGateway } from './remote/gateway-options.ts'
import { type Column, shortTime, tableLines } from './remote/list-output.ts'
import { GatewayRefusal } from './remote/problem-text.ts'

const COLUMNS: readonly Column<DecisionView>[] = [
  { name: 'at', width: 20, of: ({ at }) => shortTime(at) },
  { name: 'code', width: 12, of: ({ code }) => code },
  { name: 'request', width: 20, of: ({ method, path }) => `${method} ${path}` },
  { name: 'user', width: 10, of: ({ user }) => user ?? '' },
  { name: 'space', width: 8, of: ({ space }) => space ?? '' },
]

/** The number of decisions of a tenant that a gateway keeps. */
const MOST = 1000
/** The most decisions that are fetched after an interruption of the stream. */
const MOST_MISSED = 100
/** The most ids of printed decisions: the first page, and those of the stream before the page was read. */
const MAX_KNOWN = 4 * MOST
/** The pause in ms before a stream that has ended is opened again. */
const PAUSE = 1000

export const decisions = defineCommand({
  name: 'decisions',
  summary: 'Lists the newest decisions of a gateway on requests of the tenant, newest first.',
  details:
    'They are those of the instance that answers. With --space, only those of that space, unless it is the admin space.',
  options: {
    code: { value: 'CODE', description: 'only this answer: allow, or the code of a refusal' },
    limit: {
      value: 'N',
      description: `at most N decisions, ${DEFAULT_LIMIT} by default; with --follow, those before it`,
    },
    follow: { description: 'prints decisions as they happen, oldest first, until it is interrupted' },
    ...REMOTE,
    json: { ...JSON_OUTPUT, description: 'prints JSON for programs; with --follow, one object a line' },
  },
  exits: READ,
  example: 'seatgate decisions --code permission_denied --follow',
  run: async ({ values }, terminal) => {
    const code = values.code === undefined ? null : parsedOption('code', values.code, answerCode)
    const limit = limitOf(values.limit, MOST)
    await withGateway(values, terminal, async (gateway) => {
      const query = { code, limit, json: values.json === true }
      if (values.follow) await follow(gateway, query, terminal)
      else await list(gateway, query, terminal)
    })
  },
})

interface Query {
  readonly code: string | null
  readonly limit: number
  readonly json: boolean
}

async function list(gateway: Gateway, query: Query, terminal: Terminal): Promise<void> {
  const { data, has_more } = await newest(gateway, query)
  if (query.json) return terminal.print(JSON.stringify({ data, has_more }))
  if (data.length === 0) return terminal.print('no decisions')
  await terminal.print(tableLines(COLUMNS, terminal.columns)(data).join('\n'))
}

/** The newest decisions, except the one on the command's own request for the admin space. */
async function newest(gateway: Gateway, query: Query): Promise<Listed<DecisionView>> {
  const { data, has_more } = await collected<DecisionView>(query.limit + 1, (limit, after) =>
    gateway.get('/v1/decisions', { code: query.code, limit, after }),
  )
  const others = data.filter(({ request_id }) => !gateway.askedForSpace(request_id))
  return { data: others.slice(0, query.limit), has_more: has_more || others.length > query.limit }
}

/** Follows the stream of decisions. It ends with a refusal, or if the gateway cannot be reached. */
async function follow(gateway: Gateway, query: Query, terminal: Terminal): Promise<void> {
  const { print, printPage } = printerOf(query.json, terminal)
  for (let first = true; ; first = false) {
    // The stream begins before the list is read, so that no decision is between them.
    const events = await opened(gateway, query.code, !first)
    if (events !== null) {
      const { data } = await newest(gateway, first ? query : { ...query, limit: MOST_MISSED })
      await printPage(data)
      for await (const { event, data } of events)
        if (event === 'decision') await print([data as DecisionView])
        else if (event === 'lost') noteLost(data, terminal)
    }
    await sleep(PAUSE)
  }
}

/** The stream; null if the gateway cannot be reached now. @param isPatient whether it answered before */
async function opened(gateway: Gateway, code: string | null, isPatient: boolean) {
  try {
    return await gateway.events('/v1/decisions', { code })
  } catch (cause) {
    const passes =
      cause instanceof GatewayRefusal ? cause.problem.status === 503 : cause instanceof CommandFailed
    if (isPatient && passes) return null
    throw cause
  }
}

/** A printer that prints each decision once. Ids sort by time; those of several workers arrive unsorted. */
function printerOf(json: boolean, terminal: Terminal) {
  const linesOf = json
    ? (items: readonly DecisionView[]) => items.map((each) => JSON.stringify(each))
    : tableLines(COLUMNS, terminal.columns)
  /** The printed ids, in the order of their printing. */
  const printed = new Set<string>()
  /** The newest id that pages must not repeat: it precedes the first page, or ids up to it are forgotten. */
  let before: string | null = null
  const remember = (id: string) => {
    printed.add(id)
    if (printed.size <= MAX_KNOWN) return
    const [oldest = ''] = printed
    printed.delete(oldest)
    if (oldest > (before ?? '')) before = oldest
  }
  const print = async (items: readonly DecisionView[]) => {
    const fresh = items.filter(({ id }) => !printed.has(id))
    if (fresh.length === 0) return
    for (const { id } of fresh) remember(id)
    await terminal.print(linesOf(fresh).join('\n'))
  }
  /** Prints the first page, or what happened while the stream was interrupted. @param page newest first */
  const printPage = async (page: readonly DecisionView[]) => {
    const after = before
    before ??= page.at(-1)?.id ?? ''
    await print((after === null ? page : page.filter(({ id }) => id > after)).toReversed())
  }
  return { print, printPage }
}

function noteLost(data: unknown, terminal: Terminal): void {
  const count = typeof data === 'object' && data !== null && 'lost' in data ? Number(data.lost) : 0
  terminal.printError(`note: ${count} decisions are left out: they came faster than they are read`)
}
