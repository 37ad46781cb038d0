/** The tracer of a data plane. Its code is loaded only where tracing is on. */

import type { Config } from '../config/config.ts'
import { packageRoot, versionOf } from '../config/package-version.ts'
import type { Log } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'

/** A tracer, and the configuration that it was made of. */
export interface Tracing {
  readonly tracer: Tracer | null
  readonly config: Config['openTelemetry']['traces']
}

/** @param before stays, where the configuration is the same: its spans wait in its queue */
export async function openTracing(
  { openTelemetry: { traces: config } }: Config,
  { logger }: Log,
  { spans: counts }: Metrics,
  before?: Tracing,
): Promise<Tracing> {
  if (before !== undefined && JSON.stringify(before.config) === JSON.stringify(config)) return before
  if (config === null) return { tracer: null, config }
  const { Tracer } = await import('../telemetry/tracing/tracer.ts')
  return { tracer: new Tracer(config, { logger, counts, version: versionOf(packageRoot()) }), config }
}
