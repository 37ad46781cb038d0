import type { Test } from 'tap'
import { PATIENCE } from '../../../src/runtime/extensions.ts'
import { startWorld, type World, type WorldOptions } from '../../support/world.ts'

/** A gateway with workers, of which none is taken for dead on a busy machine. */
export function startWithWorkers(t: Test, workers: number, options: WorldOptions = {}): Promise<World> {
  const patience = { ...PATIENCE, unresponsive: 120_000 }
  return startWorld(t, { patience, ...options, top: [`workers: ${workers}`, ...(options.top ?? [])] })
}
