/**
 * One process's share of the front door: what decides and forwards, the listener it comes in by, and what it counts.
 * The gateway has one in its own process, or one in each worker.
 */

import type { AddressInfo } from 'node:net'
import type { Config } from './config/config.ts'
import type { Compiled, Engine } from './engine.ts'
import { Pipeline, type Running } from './pipeline.ts'
import { TrustedProxies } from './proxy/forwarded.ts'
import { Upstream } from './proxy/upstream.ts'
import { type Listener, openFront } from './server/front.ts'
import { AccessLog } from './telemetry/access-log.ts'
import type { Log } from './telemetry/logger.ts'
import { Metrics } from './telemetry/metrics.ts'

export class Door {
  readonly metrics = new Metrics()
  readonly #engine: Engine
  readonly #pipeline: Pipeline
  #compiled: Compiled
  #running: Running
  #front: Listener | null = null

  /** Throws a ConfigError when the route tables are faulty. */
  constructor(engine: Engine, config: Config, log: Log) {
    this.#engine = engine
    this.#compiled = engine.compile(config)
    this.#running = running(this.#compiled)
    this.#pipeline = new Pipeline(this.#running, new AccessLog(log.logger), this.metrics)
    this.#addGauges(log)
  }

  get routes(): number {
    return this.#compiled.table.routes.length
  }

  /** Rejects with Node's error when the address can't be had. */
  async listen(): Promise<AddressInfo> {
    this.#front = await openFront(this.#compiled.config.listen, this.#pipeline)
    return this.#front.address
  }

  /**
   * Throws, having changed nothing, when the tables are faulty. Calling the result puts configuration and tables into
   * force, both at once: a request meets the old ones or the new, never a mix.
   */
  prepare(config: Config): () => void {
    const compiled = this.#engine.compile(config)
    return () => {
      const before = this.#running
      this.#running = running(compiled)
      this.#compiled = compiled
      this.#pipeline.use(this.#running)
      this.metrics.forgetRoutes(new Set(compiled.table.routes.map((route) => route.id)))
      // Requests under way keep the old pools until they are done.
      for (const upstream of before.upstreams.values()) void upstream.close()
    }
  }

  /** No new connections; requests in flight have `drain` ms. After that, nothing is decided from memory. */
  async close(drain: number): Promise<void> {
    await this.#front?.close(drain)
    await Promise.all([...this.#running.upstreams.values()].map((upstream) => upstream.close()))
    this.#engine.lease.end()
  }

  #addGauges(log: Log): void {
    const { lease, memory } = this.#engine
    const { metrics } = this
    metrics.gauge(
      'seatgate_lease_live',
      '1 while memory may be used to decide.',
      () => Number(lease.live()),
      'min',
    )
    metrics.gauge(
      'seatgate_feed_seq',
      'Newest change of the store that memory has heard of.',
      () => lease.seq,
      'min',
    )
    metrics.gauge('seatgate_log_lines_dropped', 'Lines that a stalled log reader cost.', () => log.dropped())
    metrics.gauge('seatgate_memory_seat_names', 'Seat names held in memory.', () => memory.sizes.names)
    metrics.gauge('seatgate_memory_seats', 'Seats held in memory by id.', () => memory.sizes.seats)
    metrics.gauge('seatgate_memory_api_keys', 'API keys held in memory.', () => memory.sizes.keys)
  }
}

function running(compiled: Compiled): Running {
  const upstreams = new Map<string, Upstream>()
  const { trustedProxies } = compiled.config
  for (const [name, config] of compiled.config.upstreams) {
    upstreams.set(name, new Upstream(config, { trustedProxies }))
  }
  return { judge: compiled.judge, upstreams, trustedProxies: new TrustedProxies(trustedProxies) }
}
