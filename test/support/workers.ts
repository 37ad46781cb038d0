/** The workers of a gateway. */

import { execFileSync } from 'node:child_process'

/** Process ids of the workers that `parent` has started, in the order of their start. */
export function workersOf(parent = process.pid): number[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match?.[2] === String(parent) && match[3]?.includes('worker.js'))
    .map((match) => Number(match?.[1]))
}
