/** What Linux tells about a process. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** Resident memory in MiB: now, or the peak since `forgetPeak`. */
export function memoryOf(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const line = new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? Number.NaN) / 1024
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Number of its open file descriptors. */
export function openFilesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
