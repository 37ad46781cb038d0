/**
 * `seatgate fleet`: the instances of a store, the change that each has applied, and the tables that it
 * decides by. It reads the store, or asks a gateway, which also tells how long changes took.
 */

import { hostname } from 'node:os'
import {
  type Instance,
  lockStore,
  type ShownGateway,
  shownGateway,
  type Store,
} from '../../seats-admin/index.ts'
import { loadConfig } from '../config/load.ts'
import { printable } from '../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT } from './arguments.ts'
import { defineCommand, type Terminal } from './command.ts'
import { withStore } from './existing-store.ts'
import type { FleetAnswer } from './remote/endpoint-answers.ts'
import type { Gateway } from './remote/gateway-client.ts'
import { REMOTE, withGateway } from './remote/gateway-options.ts'
import { shortTime } from './remote/list-output.ts'
import { columns, fold } from './screen.ts'

type Listed = Awaited<ReturnType<typeof listed>>[number]

export const fleet = defineCommand({
  name: 'fleet',
  summary:
    'Lists the gateways on this store, with the last change that each has applied, the age of its last sign of life, and the hash of its route tables.',
  details:
    'It reads the store in the configuration. With --url or --api-key, it asks a gateway, and also shows its newest changes and how long each took until it held everywhere. That requires fleet:read in the admin space.',
  options: { config: CONFIG, ...REMOTE, json: JSON_OUTPUT },
  exits: {
    0: 'the list was printed',
    1: 'the configuration has faults, or the store cannot be read; with --url: the gateway refused the request or could not be reached',
  },
  example: 'seatgate fleet --json',
  run: async ({ values }, terminal) => {
    const { url, 'api-key': key, json = false } = values
    // SEATGATE_URL alone does not count: if it is set for other commands, this one still reads the store.
    if (url === undefined && key === undefined) return printStore(values.config, json, terminal)
    return withGateway(values, terminal, (gateway) => printAnswer(gateway, json, terminal))
  },
})

async function printStore(file: string, json: boolean, terminal: Terminal): Promise<void> {
  const config = await loadConfig(file, terminal.env)
  await withStore(config, terminal, async (store) => {
    const { seq } = (await store.changesSince(null)).head
    const path = config.store.kind === 'sqlite' ? config.store.path : null
    const instances = path === null ? await listed(store, seq) : await ofFile(path, seq)
    if (json) return terminal.print(JSON.stringify({ seq, instances }))
    await terminal.print(
      path === null ? formatInstances(instances, seq) : fold(formatFile(instances[0] ?? null, seq)),
    )
  })
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
    differs: differs.has(instance),
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
  if (!isLocked(path)) return []
  const { id, name, config, startedAt, version, url } = (await shownGateway(path)) ?? NOTHING_SHOWN
  const started = startedAt === null ? null : new Date(startedAt).toISOString()
  const shown = { config, differs: false, started_at: started, version, url }
  return [{ id, name, seq, behind: 0, age_ms: 0, ...shown }]
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
  const { version, started_at: started, config } = gateway
  const shown = [
    ...(version === null ? [] : [`version ${version}`]),
    ...(started === null ? [] : [`started at ${started}`]),
    ...(config === null ? [] : [`with tables ${config}`]),
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
function cellsOf(seq: number, age: number, hash: string | null, differs: boolean): string[] {
  const state = age > SILENT_AFTER ? 'silent' : 'live'
  return [state, `seq ${seq}`, `${age} ms ago`, `${hash ?? '-'}${differs ? ' (differs)' : ''}`]
}

function formatInstances(instances: readonly Listed[], seq: number): string {
  const rows = instances.map(({ id, name, seq: applied, age_ms: age, config, differs }) =>
    [...cellsOf(applied, age, config, differs), name, shortId(id)].map(printable),
  )
  const first = `The store's newest change is ${seq}; instances on its list: ${instances.length}.`
  const differ = instances.some(({ differs }) => differs) ? [fold(DIFFERENT)] : []
  return [first, ...(rows.length === 0 ? [] : [columns([INSTANCE_HEADING, ...rows])]), ...differ].join('\n')
}

function shortId(id: string): string {
  return `${id.slice(0, SHOWN_OF_ID)}…`
}

/** The number of changes that are printed; --json has all. */
const SHOWN_CHANGES = 10

async function printAnswer(gateway: Gateway, json: boolean, terminal: Terminal): Promise<void> {
  const answer = await gateway.get<FleetAnswer>('/v1/fleet')
  await terminal.print(json ? JSON.stringify(answer) : formatAnswer(answer))
}

const CHANGE_HEADING = ['change', 'kind', 'at', 'held everywhere after']

function formatAnswer({ data, changes }: FleetAnswer): string {
  const instances = data.map((each) => ({ ...each, age: each.age_ms, config: each.hash }))
  const different = otherTables(instances)
  const rows = instances.map((each) => {
    const { id, seq, age, hash, version, url } = each
    const cells = cellsOf(seq, age, hash, different.has(each))
    return [...cells, version ?? '-', shortId(id), url ?? '-'].map(printable)
  })
  const newest = changes.slice(0, SHOWN_CHANGES).map(({ seq, kind, at, effective_ms: after }) => {
    return [`seq ${seq}`, kind, shortTime(at), after === null ? '-' : `${after} ms`].map(printable)
  })
  return [
    columns([ANSWER_HEADING, ...rows]),
    ...(different.size === 0 ? [] : [fold(DIFFERENT)]),
    '',
    newest.length === 0
      ? fold('The gateway has seen no change of this tenant since its start.')
      : columns([CHANGE_HEADING, ...newest]),
  ].join('\n')
}

const DIFFERENT = 'Some instances decide by other route tables: the same request may be answered differently.'
