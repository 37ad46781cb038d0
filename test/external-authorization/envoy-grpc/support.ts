/** A gateway that Envoy asks. */

import type { Test } from 'tap'
import { until } from '../../support/servers/wait.ts'
import type { World, WorldOptions } from '../../support/world.ts'
import { type Asking, startAsking } from '../support.ts'
import { Envoy } from './envoy.ts'

export interface EnvoySetting extends Asking {
  readonly envoy: Envoy
  /** Credential and space, which allow GET /v1/trainings/7. */
  readonly headers: readonly (readonly [string, string])[]
}

export async function startEnvoy(t: Test, options: WorldOptions = {}): Promise<EnvoySetting> {
  const asking = await startAsking(t, options)
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
