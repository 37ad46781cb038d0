/**
 * Logs and counts what a reload changes by meaning. A comparison runs after the activation, in slices between
 * requests, and one at a time: the next reload ends it, and compares its tables with those from before the
 * ended one. So two reloads in a row hide nothing.
 */

import type { Config } from '../config/config.ts'
import { compiledTable } from '../decision/router/table.ts'
import { inSlices } from '../lib/time-slices.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import type { Route } from '../model/route.ts'
import type { FleetMetrics } from '../telemetry/fleet-metrics.ts'
import type { Log } from '../telemetry/logger.ts'
import { type Change, type ChangeSummary, changeSummary, KINDS } from './access-change.ts'
import { type Tables, tablesOf } from './tables.ts'

/** The most changes with a log line each. */
const MOST_LINES = 20
/** The most steps: some 50,000 changed routes, with 110 MB. After them, the comparison is given up. */
const MOST_STEPS = 500_000
/** The time of a slice in ms. A request waits for one slice at most. */
const SLICES = { work: 5, pause: 10 }

export type BuiltInPaths = (place: BuiltInPlace) => readonly Route[]

interface Running {
  readonly before: Config
  readonly after: Config
  readonly controller: AbortController
}

export class TableComparison {
  readonly #logger: Log['logger']
  readonly #metrics: Pick<FleetMetrics, 'tablesChanged'>
  readonly #builtInPaths: BuiltInPaths
  #running: Running | null = null

  constructor({ logger }: Log, metrics: Pick<FleetMetrics, 'tablesChanged'>, builtInPaths: BuiltInPaths) {
    this.#logger = logger
    this.#metrics = metrics
    this.#builtInPaths = builtInPaths
    metrics.tablesChanged(Object.fromEntries(KINDS.map((kind) => [kind, 0])))
  }

  /** Starts a comparison. @param before the former configuration, unless a comparison is in progress */
  begin(before: Config, after: Config): void {
    const first = this.#running?.before ?? before
    this.#end('it is repeated with the tables of the next reload')
    const running = { before: first, after, controller: new AbortController() }
    this.#running = running
    void this.#run(running)
  }

  /** Ends the comparison. */
  cancel(): void {
    this.#end('the gateway ends')
  }

  #end(why: string): void {
    if (this.#running === null) return
    const { before, after, controller } = this.#running
    this.#running = null
    controller.abort()
    this.#logger.warn({ ...hashes(before, after), why }, 'the comparison of the route tables is not finished')
  }

  async #run(running: Running): Promise<void> {
    const { before, after, controller } = running
    try {
      const summary = await inSlices(comparison(before, after, this.#builtInPaths), SLICES, controller.signal)
      controller.signal.throwIfAborted()
      this.#metrics.tablesChanged(summary.counts)
      this.#report(hashes(before, after), summary)
    } catch (cause) {
      if (controller.signal.aborted) return
      const why = cause instanceof Error ? cause.message : String(cause)
      this.#logger.error({ ...hashes(before, after), why }, 'the route tables cannot be compared')
    }
    this.#running = null
  }

  #report(tables: ReturnType<typeof hashes>, { counts, first, complete }: ChangeSummary): void {
    const count = Object.values(counts).reduce((sum, each) => sum + each, 0)
    const unfinished = complete ? {} : { complete }
    this.#logger.info({ ...tables, changes: counts, ...unfinished }, messageOf(count, complete))
    const { config } = tables
    for (const change of first) this.#logger.warn({ config, ...fieldsOf(change) }, 'a route has changed')
    const more = count - first.length
    if (more > 0) this.#logger.warn({ config, more }, 'more routes have changed: seatgate diff shows all')
    if (!complete) this.#logger.warn(tables, 'too much has changed to be compared whole: use seatgate diff')
  }
}

/** A change, in the form of `seatgate diff --json`. */
function fieldsOf({ kind, method, host, pattern, witness, old, new: now }: Change) {
  return { kind, method, ...(host === undefined ? {} : { host }), pattern, witness, old, new: now }
}

function messageOf(count: number, complete: boolean): string {
  if (count > 0) return 'the route tables have changed'
  return complete ? 'no request is answered differently' : 'no change of the route tables is found'
}

function hashes(before: Config, after: Config) {
  return { config_before: before.hash, config: after.hash }
}

function* comparison(
  before: Config,
  after: Config,
  builtInPaths: BuiltInPaths,
): Generator<null, ChangeSummary> {
  const old = yield* compiledTables(before, builtInPaths)
  const now = yield* compiledTables(after, builtInPaths)
  return yield* changeSummary(old, now, { shown: MOST_LINES, steps: MOST_STEPS })
}

/** Compiles the tables of a configuration without faults, one entry a step. */
export function* compiledTables(config: Config, builtInPaths: BuiltInPaths): Generator<null, Tables> {
  const { routes, upstreams, api } = config
  const table = yield* compiledTable(routes, upstreams, builtInPaths(api), api.hosts)
  return tablesOf(config, table)
}
