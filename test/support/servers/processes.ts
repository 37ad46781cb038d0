/**
 * Processes with all their descendants: stopped, continued and killed together. PostgreSQL is many processes,
 * each in a session of its own, so that no process group contains them.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { until } from '../until.ts'

interface Entry {
  readonly parent: number
  /** `T` is stopped, `Z` is dead and not yet collected by its parent. */
  readonly state: string
}

/** Sends a signal. Returns false if there is no such process. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** Stops a process and its descendants, parents first. Resolves with their ids in that order. */
export async function stopFamily(pid: number): Promise<number[]> {
  let family: number[] = []
  let passes = 0
  const areStopped = () => {
    const entries = table()
    family = familyIn(entries, pid)
    const awake = family.filter((each) => !/^[TZ]/.test(entries.get(each)?.state ?? 'Z'))
    for (const each of awake) signal(each, 'SIGSTOP')
    passes = awake.length === 0 ? passes + 1 : 0
    // A stopped parent makes no more children; those it made during the first pass are in the second.
    return passes === 2
  }
  await until(areStopped, () => `process ${pid} does not heed a signal`, { pause: 2 })
  return family
}

/** Continues children before parents, so that no parent sees a stopped child. */
export function continueFamily(pids: readonly number[]): void {
  for (const pid of pids.toReversed()) signal(pid, 'SIGCONT')
}

/**
 * Kills all of them at once, as in a crash: none sees another end and cleans up. Resolves when all have
 * ended.
 */
export async function killFamily(pid: number): Promise<void> {
  const family = await stopFamily(pid)
  for (const each of family) signal(each, 'SIGKILL')
  const areDead = () => {
    const entries = table()
    return family.every((each) => (entries.get(each)?.state ?? 'Z') === 'Z')
  }
  await until(areDead, () => `process ${pid} does not heed a signal`, { pause: 2 })
}

/** The processes and all their descendants that run now. */
export function familyOf(pids: readonly number[]): number[] {
  const entries = table()
  return [...new Set(pids.flatMap((pid) => familyIn(entries, pid)))]
}

/** The process and its descendants, parents before children. */
function familyIn(entries: ReadonlyMap<number, Entry>, pid: number): number[] {
  const family = entries.has(pid) ? [pid] : []
  for (const parent of family)
    for (const [child, entry] of entries) if (entry.parent === parent) family.push(child)
  return family
}

function table(): Map<number, Entry> {
  if (!existsSync('/proc/self/stat')) return fromPs()
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const entries = pids.map((pid) => [Number(pid), fromProc(Number(pid))] as const)
  return new Map(entries.filter((each): each is [number, Entry] => each[1] !== undefined))
}

function fromProc(pid: number): Entry | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The name, in parentheses, may hold blanks and parentheses itself.
  const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(parent), state }
}

function fromPs(): Map<number, Entry> {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,state='], { encoding: 'utf8' })
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/))
  return new Map(
    rows.map(([pid = '', parent = '', state = '']) => [
      Number(pid),
      { parent: Number(parent), state: state.charAt(0) },
    ]),
  )
}
