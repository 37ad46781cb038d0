/** The cost of a process so far: CPU and memory from /proc. */

import { readFileSync } from 'node:fs'

/** Clock ticks a second in /proc/PID/stat: 100 on every Linux that Node.js runs on. */
const TICKS = 100

/** Microseconds of CPU, user and system, of all its threads. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) / TICKS) * 1e6
}

/** Resident memory in bytes. */
export function memoryOf(pid: number): number {
  const line = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) * 1024
}
