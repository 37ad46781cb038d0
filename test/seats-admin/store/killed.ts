/** Writers that are ended by `kill -9`, and checks of the store afterwards. For the `kill.slow.test.ts` of each driver. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Store, StoreLocation } from '../../../seats-admin/index.ts'
import type { KILLED } from './killed-records.ts'

/** The longest time in ms between the first acknowledged write of a writer and its end. */
const LONGEST = 100

export function startWriter(location: StoreLocation, prefix: string, what: string) {
  const script = fileURLToPath(new URL('./kill-process.ts', import.meta.url))
  return spawn(process.execPath, [script, JSON.stringify(location), what, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Kills the writer some time after its first acknowledged write. Returns the lines that it printed. */
export async function writeUntilKilled(
  location: StoreLocation,
  prefix: string,
  what: string,
): Promise<string[]> {
  const child = startWriter(location, prefix, what)
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

/** Acknowledged steps that the store lacks. */
export async function lost(
  store: Store,
  acknowledged: readonly string[],
  { steps, found }: (typeof KILLED)[number],
): Promise<string[]> {
  const order = Object.keys(steps)
  const feed = async () =>
    new Set((await store.changesSince(null)).changes?.map(({ kind, key }) => `${kind} ${key}`))
  let fed = await feed()
  const last = new Map(acknowledged.map((line) => line.split(' ').toReversed() as [string, string]))
  const all: string[] = []
  for (const [name, verb] of last) {
    let state = await found(store, name, fed)
    // A server commits the last write of a killed client when it comes to it, perhaps behind the reading of the feed.
    if (state.length > 1) {
      fed = await feed()
      state = await found(store, name, fed)
    }
    const [here, ...lacks] = state
    // The step after the last acknowledged one may have been committed too.
    const ahead = order.indexOf(here) - order.indexOf(verb)
    if (ahead < 0 || ahead > 1) all.push(`${name} was ${verb}, is ${here}`)
    all.push(...lacks.map((lack) => `${name} is ${here}: ${lack}`))
  }
  return all
}
