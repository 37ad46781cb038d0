/** Writers that are ended by `kill -9`, and checks of the store afterwards. For the `kill.slow.test.ts` of each driver. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Store, StoreLocation } from '../../../seats-admin/index.ts'
import { amount } from '../../support/thorough.ts'
import { chainOf, faultsOf } from './audit-chain.ts'
import { allSeats } from './conformance.ts'
import { lostSessionSteps } from './session-killed.ts'

/** The longest time in ms between the first acknowledged write of a writer and its end. */
const LONGEST = 100

interface Killed {
  readonly what: string
  /** Of the writer. */
  readonly script: string
  /** Writers for each lane; a round of them is as good as another, as the moment of the end is random. */
  readonly rounds: number
  /** Acknowledged writes that the store lacks. */
  lost(store: Store, acknowledged: readonly string[]): Promise<string[]>
  /** What else is wrong in the store. */
  faults(store: Store, acknowledged: readonly string[]): Promise<string[]>
}

export const KILLED: readonly Killed[] = [
  {
    what: 'Seats',
    script: scriptAt('./kill-process.ts'),
    rounds: amount({ usual: 3, thorough: 5 }),
    lost: lostWrites,
    faults: async (store, all) => [...(await incompleteSeats(store)), ...(await auditFaults(store, all))],
  },
  {
    what: 'sessions',
    script: scriptAt('./session-kill-process.ts'),
    rounds: 2,
    lost: lostSessionSteps,
    faults: async () => [],
  },
]

function scriptAt(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

export function startWriter(location: StoreLocation, prefix: string, script = scriptAt('./kill-process.ts')) {
  return spawn(process.execPath, [script, JSON.stringify(location), prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Kills the writer some time after its first acknowledged write. Returns the lines that it printed. */
export async function writeUntilKilled(
  location: StoreLocation,
  prefix: string,
  script: string,
): Promise<string[]> {
  const child = startWriter(location, prefix, script)
  const exit = once(child, 'exit')
  const acknowledged: string[] = []
  const lines = createInterface(child.stdout).on('line', (line) => acknowledged.push(line))
  const ended = once(lines, 'close')
  await Promise.race([once(lines, 'line'), exit])
  await sleep(Math.random() * LONGEST)
  child.kill('SIGKILL')
  const [, signal] = await exit
  if (signal !== 'SIGKILL') throw new Error('the writer ended by itself')
  await ended
  return acknowledged
}

/** Acknowledged writes that the store lacks. */
async function lostWrites(store: Store, acknowledged: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const last = new Map(acknowledged.map((line) => line.split(' ').toReversed() as [string, string]))
  for (const [name, verb] of last) {
    const plain = (await store.seatByName('acme', name)).value
    const renamed = (await store.seatByName('acme', `${name}-renamed`)).value
    const here = plain.seat !== null ? 'made' : renamed.seat !== null ? 'renamed' : 'deleted'
    // The write after the last acknowledged one may have been committed too.
    const order = ['made', 'renamed', 'deleted']
    const ahead = order.indexOf(here) - order.indexOf(verb)
    if (ahead < 0 || ahead > 1) found.push(`${name} was ${verb}, is ${here}`)
    if (here !== 'made' && plain.givenUpAt === null) found.push(`${name}: the name is not marked`)
    if (here === 'deleted' && renamed.givenUpAt === null) found.push(`${name}: the new name is not marked`)
  }
  return found
}

/** Changes without an entry in the audit, entries without their change, and faults of the chain. */
export async function auditFaults(store: Store, acknowledged: readonly string[]): Promise<string[]> {
  const entries = await chainOf(store)
  const recorded = new Map<string, string>()
  const said = new Set<string>()
  for (const { target, before, after } of entries) {
    const [old, now] = [before, after].map((state) => (state === null ? null : String(state['name'])))
    if (old == null) said.add(`made ${now}`)
    else if (now == null) said.add(`deleted ${old.replace('-renamed', '')}`)
    else said.add(`renamed ${old}`)
    if (now == null) recorded.delete(target.id)
    else recorded.set(target.id, now)
  }
  const there = new Map((await allSeats(store)).map(({ id, name }) => [id, name]))
  const ids = new Set([...recorded.keys(), ...there.keys()])
  return [
    ...faultsOf(entries),
    ...acknowledged.filter((line) => !said.has(line)).map((line) => `${line}: no entry`),
    ...[...ids]
      .filter((id) => recorded.get(id) !== there.get(id))
      .map((id) => `${id} is ${there.get(id)}, by the audit ${recorded.get(id)}`),
  ]
}

/** Seats with missing or foreign parts. */
async function incompleteSeats(store: Store): Promise<string[]> {
  const found: string[] = []
  for (const { name, spaces, permissions } of await allSeats(store)) {
    const own = permissions.filter((each) => each.startsWith(`${name}:`))
    if (spaces[0] !== name || own.length !== 300 || permissions.length !== 300) found.push(name)
  }
  return found
}
