/** The workers of a gateway. */

import { execFileSync } from 'node:child_process'

/** Process ids of the workers that `parent` has started, in the order of their start. */
export function workersOf(parent = process.pid): number[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((found) => found?.[2] === String(parent) && found[3]?.includes('worker.js'))
    .map((found) => Number(found?.[1]))
}
