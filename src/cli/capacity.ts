/** What a process may need by its configuration, against what it may have. */

import { readFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import type { Config } from '../config/config.ts'
import type { Log } from '../telemetry/logger.ts'

type Needs = Pick<Config, 'limits' | 'upstreams' | 'memory'>

/** What can't be had is best known before it is asked for. */
export function warnOfShortage(needs: Needs, { logger }: Log): void {
  const [files, filesNeeded] = [openFilesAllowed(), openFilesNeeded(needs)]
  if (files !== null && files < filesNeeded)
    logger.warn(
      { open_files: files, needed: filesNeeded },
      `limits.connections and the upstreams' connections may need ${filesNeeded} open files a process, and this one may have ${files}: raise "ulimit -n", or lower limits.connections`,
    )
  const [heap, remembered] = [mebibytes(heapAllowed()), mebibytes(rememberedAtMost(needs))]
  if (heap / 2 < remembered)
    logger.warn(
      { heap_mib: heap, remembered_mib: remembered },
      `memory may take ${remembered} MiB of a process, more than half of the ${heap} MiB that its heap may have with all else in it: lower memory, or set NODE_OPTIONS=--max-old-space-size=${3 * remembered}`,
    )
}

/** The store, Redis, logs, listeners, the runtime itself; and connections that are refused for lack of room. */
const OWN = 100 + 256

/** The soft limit, which Node.js has raised to the hard one; null where the system does not tell. */
function openFilesAllowed(): number | null {
  try {
    const found = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    if (found === undefined) return null
    return found === 'unlimited' ? Infinity : Number(found)
  } catch {
    return null
  }
}

function openFilesNeeded({ limits, upstreams }: Needs): number {
  const ofUpstreams = [...upstreams.values()].map(({ targets, connections }) => targets.length * connections)
  // A WebSocket has a connection to its upstream beside those that `connections` of the upstream counts.
  return (
    OWN +
    limits.connections +
    limits.lingeringConnections +
    limits.websockets +
    ofUpstreams.reduce((sum, each) => sum + each, 0)
  )
}

/** Bytes, by what the machine or the container has. */
function heapAllowed(): number {
  return getHeapStatistics().heap_size_limit
}

function rememberedAtMost({ memory: { tokens, apiKeys, seats } }: Needs): number {
  return tokens + apiKeys + seats
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}
