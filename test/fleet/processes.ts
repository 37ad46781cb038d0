/** The children of a process, to freeze or kill one worker alone. */

import { spawnSync } from 'node:child_process'

/** In order of their start. */
export function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return rows.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []))
}
