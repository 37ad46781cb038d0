/** How many files a process may have open, and how many the configuration may take. Used by `start.ts`. */

import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'

/** The store, Redis, logs, listeners, the runtime itself. */
const OWN = 100

/** The soft limit, which Node.js has raised to the hard one; null where the system does not tell. */
export function openFilesAllowed(): number | null {
  try {
    const found = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    if (found === undefined) return null
    return found === 'unlimited' ? Infinity : Number(found)
  } catch {
    return null
  }
}

export function openFilesNeeded({ limits, upstreams }: Pick<Config, 'limits' | 'upstreams'>): number {
  const ofUpstreams = [...upstreams.values()].map(({ targets, connections }) => targets.length * connections)
  return OWN + limits.connections + ofUpstreams.reduce((sum, each) => sum + each, 0)
}
