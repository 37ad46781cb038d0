/** `seatgate fleet`: the instances of a store, the change that each has applied, and the tables that it decides by. */

import { hostname } from 'node:os'
import { type Instance, lockStore, type Store } from '../../seats-admin/index.ts'
import type { StoreConfig } from '../config/config.ts'
import { configOf, defineCommand } from './command.ts'
import { printable } from '../telemetry/readable.ts'
import { openExistingStore } from './existing-store.ts'
import { CONFIG, JSON_OUTPUT } from './shared-options.ts'
import { columns, fold } from './screen.ts'

type Listed = Awaited<ReturnType<typeof listed>>[number]

export const fleet = defineCommand(
  {
    name: 'fleet',
    summary:
      'Lists the gateways on this store, with the last change that each has applied, the age of its last sign of life, and the hash of its route tables.',
    options: { config: CONFIG, json: JSON_OUTPUT },
    exits: { 0: 'the list was printed', 1: 'the configuration has faults, or the store cannot be read' },
    example: 'seatgate fleet --json',
  },
  async ({ values }, terminal) => {
    const config = await configOf(values, terminal)
    const store = await openExistingStore(config)
    try {
      const { seq } = (await store.changesSince(null)).head
      const instances =
        config.store.kind === 'sqlite' ? listedFile(config.store, seq) : await listed(store, seq)
      if (values.json) return await terminal.print(JSON.stringify({ seq, instances }))
      await terminal.print(
        config.store.kind === 'sqlite' ? formatFile(config.store, seq) : formatInstances(instances, seq),
      )
    } finally {
      await store.close()
    }
  },
)

/** As of each instance's latest sign of life; `age_ms` is since then, by the store's clock. */
async function listed({ registry }: Store, head: number) {
  const instances = (await registry?.instances()) ?? []
  const differs = otherTables(instances)
  return instances.map((instance: Instance) => ({
    id: instance.id,
    name: instance.name,
    seq: instance.applied,
    /** Changes of the store that it had not applied. */
    behind: Math.max(0, head - instance.applied),
    age_ms: Math.round(instance.age),
    /** Null: an older version, which does not report it. */
    config: instance.config,
    differs: differs.has(instance),
  }))
}

/**
 * The live instances whose tables are not those of more than half of them: all, where no tables are. Instances of an older
 * version do not count.
 */
function otherTables(instances: readonly Instance[]): ReadonlySet<Instance> {
  const live = instances.filter(({ age, config }) => age <= SILENT_AFTER && config !== null)
  const groups = Map.groupBy(live, ({ config }) => config)
  return new Set([...groups.values()].filter((group) => group.length <= live.length / 2).flat())
}

type FileStore = Extract<StoreConfig, { kind: 'sqlite' }>

/** A store in a file has no list: its one gateway holds a lock. It decides on the file itself, so that it is never behind. */
function listedFile(store: FileStore, seq: number): Listed[] {
  if (!isServed(store)) return []
  return [{ id: 'file', name: hostname(), seq, behind: 0, age_ms: 0, config: null, differs: false }]
}

/** Whether a gateway runs on the file. */
function isServed({ path }: FileStore): boolean {
  const lock = lockStore(path)
  lock?.release()
  return lock === null
}

function formatFile(store: FileStore, seq: number): string {
  const state = isServed(store) ? 'A gateway uses this store' : 'No gateway uses this store'
  return fold(`${state}. A store in a file has no fleet. Its newest change is ${seq}.`)
}

/** Milliseconds; a healthy instance gives signs of life more often. */
const SILENT_AFTER = 1000

/** Characters; --json has the whole id. */
const SHOWN_OF_ID = 8

const HEADING = ['state', 'change', 'sign of life', 'tables', 'name', 'id']

function formatInstances(instances: readonly Listed[], seq: number): string {
  const rows = instances.map(({ id, name, seq: applied, age_ms: age, config, differs }) => {
    const state = age > SILENT_AFTER ? 'silent' : 'live'
    const tables = `${config ?? '-'}${differs ? ' (differs)' : ''}`
    const cells = [state, `seq ${applied}`, `${age} ms ago`, tables, name, `${id.slice(0, SHOWN_OF_ID)}…`]
    return cells.map(printable)
  })
  const first = `The store's newest change is ${seq}; instances on its list: ${instances.length}.`
  const differ = instances.some(({ differs }) => differs) ? [fold(DIFFERENT)] : []
  return [first, ...(rows.length === 0 ? [] : [columns([HEADING, ...rows])]), ...differ].join('\n')
}

const DIFFERENT = 'Some instances decide by other route tables: the same request may be answered differently.'
