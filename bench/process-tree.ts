/** The cost of a process and all its descendants so far: CPU and memory from /proc, which only Linux has. */

import { readFileSync } from 'node:fs'
import { familyOf } from '../test/support/servers/processes.ts'

/** Clock ticks per second in /proc/PID/stat: 100 on every Linux that Node.js runs on. */
const TICKS = 100

/** Microseconds, user and system. */
export function cpuOf(roots: readonly number[]): number {
  const ticks = familyOf(roots).reduce((sum, pid) => sum + ticksOf(pid), 0)
  return (ticks / TICKS) * 1e6
}

/** Resident bytes; pages that several of the processes share are divided among them. */
export function memoryOf(roots: readonly number[]): number {
  return familyOf(roots).reduce((sum, pid) => sum + residentOf(pid), 0)
}

/** User and system time of the process, and of its children that have ended: fields 14 to 17 of proc(5). */
function ticksOf(pid: number): number {
  const text = read(`/proc/${pid}/stat`)
  // A name may contain spaces and brackets: the fields start after the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
}

function residentOf(pid: number): number {
  const shared = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))
  const resident = shared ?? /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))
  return Number(resident?.[1] ?? 0) * 1024
}

/** Empty if the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
