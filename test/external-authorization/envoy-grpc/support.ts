/** A gateway that Envoy asks. */

import type { Test } from 'tap'
import { until } from '../../support/until.ts'
import type { World, WorldOptions } from '../../support/world.ts'
import { startAsking } from '../support.ts'
import { Envoy } from './envoy.ts'

export async function startEnvoy(t: Test, options: WorldOptions = {}) {
  const asking = await startAsking(t, options)
  /** Credential and space, which allow GET /v1/trainings/7. */
  const headers = [['x-api-key', asking.key] as const, ['space', 'main'] as const]
  return { ...asking, envoy: new Envoy(t, asking.port), headers }
}

/** The line of a question in the log. It is written after the answer. */
export async function loggedLine(
  world: World,
  holds: (line: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  const find = () => world.log().find((line) => line.asked_by === 'envoy-grpc' && holds(line))
  await until(
    () => find() !== undefined,
    () => `no question of Envoy in the log is the one: ${holds}`,
  )
  return find() ?? {}
}
