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
import { type Column, shortTime, tableOf } from './remote/list-output.ts'
import { GatewayRefusal } from './remote/problem-text.ts'

const COLUMNS: readonly Column<DecisionView>[] = [
  { name: 'at', width: 20, of: ({ at }) => shortTime(at) },
  { name: 'code', width: 12, of: ({ code }) => code },
  { name: 'request', width: 20, of: ({ method, path }) => `${method} ${path}` },
  { name: 'user', width: 10, of: ({ user }) => user ?? '' },
  { name: 'space', width: 8, of: ({ space }) => space ?? '' },
]

/** What a gateway keeps of a tenant. */
const MOST = 1000
/** Of what happened while a stream was interrupted. */
const MOST_MISSED = 100
/** Ids of printed decisions: the first page, and those of the stream before the page was read. */
const MAX_KNOWN = 4 * MOST
/** Milliseconds before a stream that has ended is opened again. */
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
      const asked = { code, limit, json: values.json === true }
      if (values.follow) await follow(gateway, asked, terminal)
      else await list(gateway, asked, terminal)
    })
  },
})

interface Asked {
  readonly code: string | null
  readonly limit: number
  readonly json: boolean
}

async function list(gateway: Gateway, asked: Asked, terminal: Terminal): Promise<void> {
  const { data, has_more } = await newest(gateway, asked)
  if (asked.json) return terminal.print(JSON.stringify({ data, has_more }))
  if (data.length === 0) return terminal.print('no decisions')
  const { heading, line } = tableOf(COLUMNS, data, terminal.columns)
  await terminal.print([heading, ...data.map(line)].join('\n'))
}

/** Without the command's own question for the admin space, which is the newest decision otherwise. */
async function newest(gateway: Gateway, asked: Asked): Promise<Listed<DecisionView>> {
  const { data, has_more } = await collected<DecisionView>(asked.limit + 1, (limit, after) =>
    gateway.get('/v1/decisions', { code: asked.code, limit, after }),
  )
  const others = data.filter(({ request_id }) => !gateway.askedForSpace(request_id))
  return { data: others.slice(0, asked.limit), has_more: has_more || others.length > asked.limit }
}

/** Ends with a refusal, or where the gateway can't be reached. */
async function follow(gateway: Gateway, asked: Asked, terminal: Terminal): Promise<void> {
  const printer = new Printer(asked.json, terminal)
  for (let first = true; ; first = false) {
    // The stream begins before the list is read, so that no decision is between them.
    const events = await opened(gateway, asked.code, !first)
    if (events !== null) {
      const { data } = await newest(gateway, first ? asked : { ...asked, limit: MOST_MISSED })
      if (first) await printer.printFirst(data)
      else await printer.printMissed(data)
      for await (const { event, data } of events)
        if (event === 'decision') await printer.print([data as DecisionView])
        else if (event === 'lost') printer.lost(data)
    }
    await sleep(PAUSE)
  }
}

/** Null: the gateway is not there at the moment. @param isPatient it was there before */
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

/** Each decision once. Ids sort by time, and those of several workers arrive unsorted. */
class Printer {
  readonly #json: boolean
  readonly #terminal: Terminal
  #line: ((item: DecisionView) => string) | null = null
  /** In the order of their printing. */
  readonly #known = new Set<string>()
  /** Pages have decisions up to this id that are not to be printed: they are before the first page, or no longer known. */
  #before = ''

  constructor(json: boolean, terminal: Terminal) {
    this.#json = json
    this.#terminal = terminal
  }

  /** @param page newest first */
  async printFirst(page: readonly DecisionView[]): Promise<void> {
    this.#before = page.at(-1)?.id ?? ''
    await this.print(page.toReversed())
  }

  /** What happened while the stream was interrupted. @param page newest first */
  async printMissed(page: readonly DecisionView[]): Promise<void> {
    await this.print(page.filter(({ id }) => id > this.#before).toReversed())
  }

  async print(found: readonly DecisionView[]): Promise<void> {
    const fresh = found.filter(({ id }) => !this.#known.has(id))
    if (fresh.length === 0) return
    for (const { id } of fresh) this.#remember(id)
    const lines: string[] = []
    if (!this.#json && this.#line === null) {
      const table = tableOf(COLUMNS, fresh, this.#terminal.columns)
      this.#line = table.line
      lines.push(table.heading)
    }
    for (const each of fresh) lines.push(this.#line?.(each) ?? JSON.stringify(each))
    await this.#terminal.print(lines.join('\n'))
  }

  #remember(id: string): void {
    this.#known.add(id)
    if (this.#known.size <= MAX_KNOWN) return
    const [oldest = ''] = this.#known
    this.#known.delete(oldest)
    if (oldest > this.#before) this.#before = oldest
  }

  lost(data: unknown): void {
    const count = typeof data === 'object' && data !== null && 'lost' in data ? Number(data.lost) : 0
    this.#terminal.printError(`note: ${count} decisions are left out: they came faster than they are read`)
  }
}
