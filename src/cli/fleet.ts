/**
 * `seatgate fleet`: the instances of a store, the change that each has applied, and the tables that it
 * decides by. It reads the store, or asks a gateway, which also tells how long changes took.
 */

import { hostname } from 'node:os'
import {
  type Instance,
  lockStore,
  type RefusedReload,
  type ShownGateway,
  shownGateway,
  type Store,
} from '../../seats-admin/index.ts'
import { tablesPlaceOf } from '../../seats-admin/model/tables-version.ts'
import { loadConfig } from '../config/load.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT } from './arguments.ts'
import { defineCommand, type Terminal } from './command.ts'
import { withStore } from './existing-store.ts'
import type { FleetAnswer } from './remote/endpoint-answers.ts'
import type { Gateway } from './remote/gateway-client.ts'
import { REMOTE, withGateway } from './remote/gateway-options.ts'
import { shortTime } from './remote/list-output.ts'
import {
  hexOf,
  missingLine,
  NOT_ALL,
  printMissing,
  refusedText,
  WITHIN_OPTION,
  withinOf,
  waitForAll,
  type WaitedInstance,
} from './fleet-wait.ts'
import { columns, fold } from './screen.ts'

type Listed = Awaited<ReturnType<typeof listed>>[number]

export const fleet = defineCommand({
  name: 'fleet',
  summary:
    'Lists the gateways on this store, with the last change that each has applied, the age of its last sign of life, and the hash of its route tables.',
  details:
    'It reads the store in the configuration. With --wait, it reads it again until every live gateway decides by the wanted tables: a gateway without a sign of life for 1.25 s is not live, and reads its files again before it decides. With --url or --api-key, it asks a gateway, and also shows its newest changes and how long each took until it held everywhere. That requires fleet:read in the admin space.',
  options: {
    config: CONFIG,
    wait: {
      value: 'HASH',
      description: 'waits until every live gateway decides by the tables with this hash, of check --hash',
    },
    within: WITHIN_OPTION,
    ...REMOTE,
    json: JSON_OUTPUT,
  },
  alternatives: [['wait', 'within']],
  exits: {
    0: 'the list was printed; with --wait: every live gateway decides by these tables',
    1: 'the configuration has faults, or the store cannot be read; with --url: the gateway refused the request or could not be reached',
    3: 'with --wait: the time has run out; the messages say which gateways decide by other tables, and why',
  },
  example: 'seatgate fleet --wait 0123456789ab --within 1m',
  run: async ({ values }, terminal) => {
    const { url, 'api-key': key, wait: hash, json = false } = values
    const within = withinOf(values.within)
    const wanted = hash === undefined ? null : { hash: hexOf('--wait', hash), within }
    const show = { json, wanted, terminal }
    // SEATGATE_URL alone does not count: if it is set for other commands, this one still reads the store.
    if (url === undefined && key === undefined) return showStore(values.config, show)
    return withGateway(values, terminal, (gateway) => showAnswer(gateway, show))
  },
})

/** How the list is shown. */
interface Show {
  readonly json: boolean
  /** The tables to wait for; null: the list is shown as it is. */
  readonly wanted: { readonly hash: string; readonly within: number } | null
  readonly terminal: Terminal
}

function showStore(file: string, { json, wanted, terminal }: Show): Promise<number> {
  return storeOf(file, terminal, async (store, path) => {
    let seq = 0
    const read = async () => {
      seq = (await store.changesSince(null)).head.seq
      return path === null ? listed(store, seq) : ofFile(path, seq)
    }
    const { rows, code, missing } = await awaited(read, ({ config }) => config, wanted)
    if (json) await terminal.print(JSON.stringify({ seq, instances: rows }))
    else
      await terminal.print(
        path === null ? formatInstances(rows, seq) : fold(formatFile(rows[0] ?? null, seq)),
      )
    missing(terminal)
    return code
  })
}

/** Runs `work` with the store of a configuration, and the path of its file if it is one. */
export async function storeOf<R>(
  file: string,
  terminal: Terminal,
  work: (store: Store, path: string | null) => Promise<R>,
): Promise<R> {
  const config = await loadConfig(file, terminal.env)
  const path = config.store.kind === 'sqlite' ? config.store.path : null
  return withStore(config, terminal, (store) => work(store, path))
}

/** The list, once every live instance decides by the tables that are waited for, or the time has run out. */
async function awaited<I extends Omit<WaitedInstance, 'shown'> & Refusing>(
  read: () => Promise<readonly I[]>,
  hashOf: (instance: I) => string | null,
  wanted: Show['wanted'],
) {
  if (wanted === null) return { rows: await read(), code: 0, missing: () => {} }
  const { hash, within } = wanted
  const named = async () => (await read()).map((row) => ({ ...row, row, shown: nameOf(row) }))
  const waited = await waitForAll(named, ({ row }) => hashOf(row) === hash, within)
  const lines = waited.missing.map((each) => {
    const other = hashOf(each.row)
    const why = other === null ? 'is of a version that does not say by which tables' : `decides by ${other}`
    return missingLine(each, why, each.refused)
  })
  const missing = (terminal: Terminal) => {
    if (!waited.isDone) printMissing(waited, lines, [`decide by ${hash}`, within], terminal)
  }
  return { rows: waited.instances.map(({ row }) => row), code: waited.isDone ? 0 : NOT_ALL, missing }
}

interface Refusing {
  readonly refused: RefusedReload | null
  readonly name?: string
  readonly url: string | null
}

function nameOf({ id, name, url }: Refusing & Pick<WaitedInstance, 'id'>): string {
  return name ?? url ?? id
}

/** The instances at their latest sign of life; `age_ms` is the time since then, by the store's clock. */
async function listed({ registry }: Store, head: number) {
  const instances = (await registry?.instances()) ?? []
  const differs = otherTables(instances)
  return instances.map((instance: Instance) => ({
    id: instance.id,
    name: instance.name,
    seq: instance.applied,
    /** The number of changes of the store that it had not applied. */
    behind: Math.max(0, head - instance.applied),
    age_ms: Math.round(instance.age),
    /** The hash of its tables; null for an older version, which does not report it. */
    config: instance.config,
    /** Where they are; null for an older version. */
    tables: tablesPlaceOf(instance),
    differs: differs.has(instance),
    /** Its latest reload if it was refused; null: it was not. */
    refused: instance.refused,
    checks_files: instance.checksFiles,
    beat: instance.beat,
    started_at: instance.startedAt === null ? null : new Date(instance.startedAt).toISOString(),
    version: instance.version,
    url: instance.url,
  }))
}

/**
 * The live instances whose tables differ from those of the majority; all of them, if no tables have a
 * majority. Instances of an older version do not count.
 */
function otherTables<I extends Pick<Instance, 'age' | 'config'>>(instances: readonly I[]): ReadonlySet<I> {
  const live = instances.filter(({ age, config }) => age <= SILENT_AFTER && config !== null)
  const groups = Map.groupBy(live, ({ config }) => config)
  return new Set([...groups.values()].filter((group) => group.length <= live.length / 2).flat())
}

/**
 * The gateway of a store in a file. Such a store has no list: its one gateway holds a lock, and writes its
 * description next to the file. It decides by the file itself, so it has applied every change.
 */
async function ofFile(path: string, seq: number): Promise<Listed[]> {
  const shown = await gatewayOf(path)
  if (shown === null) return []
  const { id, name, config, startedAt, version, url, refused = null, tables = null, secrets } = shown
  const started = startedAt === null ? null : new Date(startedAt).toISOString()
  const files = {
    config,
    tables: tablesPlaceOf({ tables }),
    differs: false,
    refused,
    checks_files: secrets !== null,
    beat: 0,
  }
  return [{ id, name, seq, behind: 0, age_ms: 0, ...files, started_at: started, version, url }]
}

/** What the gateway of a store in a file shows; null: none runs on it. */
export async function gatewayOf(path: string): Promise<ShownGateway | null> {
  return isLocked(path) ? ((await shownGateway(path)) ?? NOTHING_SHOWN) : null
}

/** The gateway is of an older version, or the disk is full. */
const NOTHING_SHOWN: ShownGateway = {
  id: 'file',
  name: hostname(),
  config: null,
  startedAt: null,
  version: null,
  url: null,
  secrets: null,
}

function formatFile(gateway: Listed | null, seq: number): string {
  const newest = `A store in a file has no fleet. Its newest change is ${seq}.`
  if (gateway === null) return `No gateway uses this store. ${newest}`
  const { version, started_at: started, config, tables, refused } = gateway
  const shown = [
    ...(version === null ? [] : [`version ${version}`]),
    ...(started === null ? [] : [`started at ${started}`]),
    ...(config === null ? [] : [`with tables ${config}${tables === 'store' ? ' of the store' : ''}`]),
    ...(refused === null ? [] : [refusedText(refused)]),
  ]
  const what = shown.length === 0 ? '' : `: ${printable(shown.join(', '))}`
  return `A gateway uses this store${what}. ${newest}`
}

/** Whether a gateway runs on the file. */
function isLocked(path: string): boolean {
  const lock = lockStore(path)
  lock?.release()
  return lock === null
}

/** The age in ms after which an instance is silent; a healthy one gives signs of life more often. */
const SILENT_AFTER = 1000

/** The number of characters of an id; --json has the whole id. */
const SHOWN_OF_ID = 8

const HEADING = ['state', 'change', 'sign of life', 'tables']
const INSTANCE_HEADING = [...HEADING, 'name', 'id']
const ANSWER_HEADING = [...HEADING, 'version', 'id', 'url']

/** The cells of the columns that both tables have. */
function cellsOf(
  seq: number,
  age: number,
  hash: string | null,
  { tables, differs }: { readonly tables: string | null; readonly differs: boolean },
): string[] {
  const notes = [...(tables === 'store' ? ['store'] : []), ...(differs ? ['differs'] : [])]
  const state = age > SILENT_AFTER ? 'silent' : 'live'
  return [
    state,
    `seq ${seq}`,
    `${age} ms ago`,
    `${hash ?? '-'}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`,
  ]
}

function formatInstances(instances: readonly Listed[], seq: number): string {
  const rows = instances.map(({ id, name, seq: applied, age_ms: age, config, tables, differs }) =>
    [...cellsOf(applied, age, config, { tables, differs }), name, shortId(id)].map(printable),
  )
  const first = `The store's newest change is ${seq}; instances on its list: ${instances.length}.`
  const differ = instances.some(({ differs }) => differs) ? [fold(DIFFERENT)] : []
  const table = rows.length === 0 ? [] : [columns([INSTANCE_HEADING, ...rows])]
  return [first, ...table, ...differ, ...refusals(instances)].join('\n')
}

/** A text for each instance that has refused its files. */
function refusals(instances: readonly (Refusing & Pick<WaitedInstance, 'id'>)[]): string[] {
  return instances.flatMap((each) =>
    each.refused === null ? [] : [fold(printable(`${nameOf(each)} ${refusedText(each.refused)}`))],
  )
}

function shortId(id: string): string {
  return `${id.slice(0, SHOWN_OF_ID)}…`
}

/** The number of changes that are printed; --json has all. */
const SHOWN_CHANGES = 10

async function showAnswer(gateway: Gateway, { json, wanted, terminal }: Show): Promise<number> {
  let answer: FleetAnswer = { data: [], changes: [] }
  const read = async () => {
    answer = await gateway.get<FleetAnswer>('/v1/fleet')
    return answer.data.map((each) => ({ ...OLDER, ...each }))
  }
  const { code, missing } = await awaited(read, ({ hash }) => hash, wanted)
  await terminal.print(json ? JSON.stringify(answer) : formatAnswer(answer))
  missing(terminal)
  return code
}

/** What a gateway of an older version does not answer. */
const OLDER = { tables: null, refused: null, checks_files: false, beat: 0 }

const CHANGE_HEADING = ['change', 'kind', 'at', 'held everywhere after']

function formatAnswer({ data, changes }: FleetAnswer): string {
  const instances = data.map((each) => ({ ...OLDER, ...each, age: each.age_ms, config: each.hash }))
  const different = otherTables(instances)
  const rows = instances.map((each) => {
    const { id, seq, age, hash, tables, version, url } = each
    const cells = cellsOf(seq, age, hash, { tables, differs: different.has(each) })
    return [...cells, version ?? '-', shortId(id), url ?? '-'].map(printable)
  })
  const newest = changes.slice(0, SHOWN_CHANGES).map(({ seq, kind, at, effective_ms: after }) => {
    return [`seq ${seq}`, kind, shortTime(at), after === null ? '-' : `${after} ms`].map(printable)
  })
  return [
    columns([ANSWER_HEADING, ...rows]),
    ...(different.size === 0 ? [] : [fold(DIFFERENT)]),
    ...refusals(instances),
    '',
    newest.length === 0
      ? fold('The gateway has seen no change of this tenant since its start.')
      : columns([CHANGE_HEADING, ...newest]),
  ].join('\n')
}

const DIFFERENT = 'Some instances decide by other route tables: the same request may be answered differently.'
