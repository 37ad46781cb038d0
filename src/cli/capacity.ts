/** Compares what the configuration may need of a process with what the process may use. */

import { readFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import type { Config } from '../config/config.ts'
import { fileShortage, nodeShortage } from '../runtime/surroundings/machine-faults.ts'
import type { Log } from '../telemetry/logger.ts'

type Needs = Pick<Config, 'limits' | 'upstreams' | 'memory' | 'sources'>

export function warnOfShortage(needs: Needs, { logger }: Log): void {
  const [files, filesNeeded] = [openFilesAllowed(), openFilesNeeded(needs)]
  if (files !== null && files < filesNeeded)
    logger.warn(
      { open_files: files, needed: filesNeeded },
      fileShortage(needs.sources.connections, files, filesNeeded),
    )
  const { tokens, apiKeys, seats } = needs.memory
  // V8 derives its limit from the memory of the machine or the container.
  const heap = mebibytes(getHeapStatistics().heap_size_limit)
  const cached = mebibytes(tokens + apiKeys + seats)
  if (heap / 2 < cached)
    logger.warn(
      { heap_mib: heap, remembered_mib: cached },
      `memory may take ${cached} MiB of a process, more than half of its heap limit of ${heap} MiB: lower memory, or set NODE_OPTIONS=--max-old-space-size=${3 * cached}`,
    )
}

export function warnOfNode({ logger }: Log): void {
  const shortage = nodeShortage()
  if (shortage !== null) logger.warn({ node: process.version, missing: shortage.missing }, shortage.message)
}

/** Store, Redis, logs, listeners and runtime; and connections that are being refused. */
const OWN_FILES = 100 + 256

/** The soft limit, which Node.js raises to the hard one; null: the system does not report it. */
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
  // A WebSocket's connection to its upstream is not counted by the upstream's `connections`.
  let needed = OWN_FILES + limits.connections + limits.lingeringConnections + limits.websockets
  for (const { targets, connections } of upstreams.values()) needed += targets.length * connections
  return needed
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}
