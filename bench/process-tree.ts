/** The cost of a process and all its descendants so far: CPU and memory from /proc, which only Linux has. */

import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks a second in /proc/PID/stat: 100 on every Linux that Node.js runs on. */
const TICKS = 100

export interface ProcessStat {
  readonly pid: number
  readonly parent: number
  /** User and system time, its own and that of its children that have ended and were waited for. */
  readonly ticks: number
}

/** The text of /proc/PID/stat. A name may contain spaces and brackets: the fields start after the last bracket. */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index] ?? Number.NaN)
  // Fields 14 to 17 of proc(5): utime, stime, cutime, cstime.
  const ticks = number(11) + number(12) + number(13) + number(14)
  return { pid: Number.parseInt(text, 10), parent: number(1), ticks }
}

/** The processes and all their descendants. */
export function descendants(all: readonly ProcessStat[], roots: readonly number[]): ProcessStat[] {
  const found = new Set(roots)
  let before = 0
  while (found.size > before) {
    before = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  return all.filter(({ pid }) => found.has(pid))
}

/** Microseconds, user and system. */
export function cpuOf(roots: readonly number[]): number {
  const ticks = descendants(allProcesses(), roots).reduce((sum, each) => sum + each.ticks, 0)
  return (ticks / TICKS) * 1e6
}

/** Resident bytes; pages that several of the processes share are divided among them. */
export function memoryOf(roots: readonly number[]): number {
  return descendants(allProcesses(), roots).reduce((sum, { pid }) => sum + residentOf(pid), 0)
}

function allProcesses(): ProcessStat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    const text = read(`/proc/${pid}/stat`)
    return text === '' ? [] : [parseStat(text)]
  })
}

function residentOf(pid: number): number {
  const shared = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))
  const resident = shared ?? /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))
  return Number(resident?.[1] ?? 0) * 1024
}

/** Empty where the process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
