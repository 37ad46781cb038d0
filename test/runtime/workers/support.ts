import { execFileSync } from 'node:child_process'
import type { Test } from 'tap'
import { defaults } from '../../../src/runtime/workers/pool.ts'
import { startWorld, type World, type WorldOptions } from '../../support/world.ts'

/** A gateway with workers, of which none is taken for dead on a busy machine. */
export function startWithWorkers(t: Test, workers: number, options: WorldOptions = {}): Promise<World> {
  defaults.unresponsive = 120_000
  return startWorld(t, { ...options, top: [`workers: ${workers}`, ...(options.top ?? [])] })
}

/** Pids of the workers that `parent` has started. */
export function workersOf(parent = process.pid): number[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((found) => found?.[2] === String(parent) && found[3]?.includes('worker.js'))
    .map((found) => Number(found?.[1]))
}
