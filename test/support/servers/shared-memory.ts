/**
 * A PostgreSQL that was killed leaves a small segment of shared memory, which its next start uses. If there
 * is no next start, the segment is released here, because the system has few of them.
 */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Releases the segment once all processes of that data directory have ended. */
export function releaseMemory(data: string): void {
  const segment = segmentOf(join(data, 'postmaster.pid'))
  // If it fails, or if there is no ipcrm, 56 bytes are lost.
  if (segment !== undefined) spawnSync('ipcrm', ['-m', segment], { stdio: 'ignore' })
}

/** The seventh line has its key and its id; the file is gone after an end in order, and so is the segment. */
function segmentOf(file: string): string | undefined {
  try {
    return /^\s*\d+\s+(\d+)\s*$/.exec(readFileSync(file, 'utf8').split('\n')[6] ?? '')?.[1]
  } catch {
    return undefined
  }
}
