/** `seatgate fleet`: the instances of a store, and the change that each has applied. */

import { type Instance, lockStore, type Store } from '../../seats-admin/index.ts'
import type { StoreConfig } from '../config/config.ts'
import { configOf, defineCommand } from './command.ts'
import { openExistingStore } from './existing-store.ts'
import { CONFIG, JSON_OUTPUT } from './options.ts'

type Listed = Awaited<ReturnType<typeof listed>>[number]

export const fleet = defineCommand(
  {
    name: 'fleet',
    summary:
      'Lists the gateways on this store, the change that each has applied, and the age of its latest sign of life.',
    options: { config: CONFIG, json: JSON_OUTPUT },
    exits: { 0: 'the list is printed', 1: 'the configuration has faults, or the store cannot be read' },
    example: 'seatgate fleet --json',
  },
  async ({ values }, terminal) => {
    const config = await configOf(values, terminal)
    const store = await openExistingStore(config)
    try {
      const { seq } = (await store.changesSince(null)).head
      const instances = await listed(store, seq)
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
  return instances.map(({ id, name, applied, age }: Instance) => ({
    id,
    name,
    seq: applied,
    /** Changes of the store that it had not applied. */
    behind: Math.max(0, head - applied),
    age_ms: Math.round(age),
  }))
}

/** A store in a file has no list: its one gateway holds a lock. */
function formatFile({ path }: Extract<StoreConfig, { kind: 'sqlite' }>, seq: number): string {
  const lock = lockStore(path)
  lock?.release()
  const state = lock === null ? 'One gateway runs on it' : 'No gateway runs on it'
  return `${state}: a store in a file has no fleet. Its newest change is ${seq}.`
}

/** Milliseconds; a healthy instance gives signs of life more often. */
const SILENT_AFTER = 1000

function formatInstances(instances: readonly Listed[], seq: number): string {
  const lines = instances.map(({ id, name, seq: applied, age_ms: age }) => {
    const state = age > SILENT_AFTER ? 'silent' : 'live'
    return [state.padEnd(7), `seq ${applied}`.padEnd(14), `${age} ms ago`.padEnd(14), name, id].join('  ')
  })
  return [`The store's newest change is ${seq}; instances on its list: ${instances.length}.`, ...lines].join(
    '\n',
  )
}
