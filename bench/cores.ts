/**
 * The assignment of cores: the first for the peer, the others for load and upstream, so that they do not
 * share CPU time. Without taskset, or on a single core, no process is bound.
 */

import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'

/** The cores of the machine, read before this process is bound to some of them. */
export const CORES = availableParallelism()

export const pinned = CORES > 1 && which('taskset') !== null

/** @param workers cores that the peer may use */
export function peerCores(workers: number): string | null {
  if (!pinned) return null
  return workers <= 1 ? '0' : `0-${Math.min(workers, CORES) - 1}`
}

/** The cores that the peer does not use, or all if it uses all. */
export function loadCores(workers: number): string | null {
  if (!pinned) return null
  const first = workers >= CORES ? 0 : Math.max(1, workers)
  return first === CORES - 1 ? String(first) : `${first}-${CORES - 1}`
}

/** Binds this process to the cores of the load, because it may generate the load. */
export function bindThisProcess(): void {
  const cores = loadCores(1)
  if (cores !== null) execFileSync('taskset', ['-apc', cores, `${process.pid}`], { stdio: 'ignore' })
}

/** Returns the command bound to the cores. */
export function bound(cores: string | null, command: readonly string[]): string[] {
  return cores === null ? [...command] : ['taskset', '-c', cores, ...command]
}

/**
 * Returns the command with its priority.
 *
 * @param background at the scheduler's lowest priority: other processes take the core at once
 */
export function prioritized(background: boolean | undefined, command: readonly string[]): string[] {
  return background === true && which('chrt') !== null ? ['chrt', '--idle', '0', ...command] : [...command]
}

/** The path of a program; null if it is not installed. */
export function which(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/sbin']
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
