/**
 * What `/metrics` shows, in the Prometheus text format. Labels are bounded: route ids, never raw paths; codes and
 * methods from fixed lists. Children are looked up once and kept, so that a request costs a few additions.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Refusal } from '../errors.ts'
import type { Exchange, WebSocketEnd } from '../exchange.ts'
import { statusOf } from './access-log.ts'

/** Seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The route label of what no entry matched. */
const NO_ROUTE = '(none)'

interface Child {
  readonly byStatus: Map<number, Counter.Internal>
  readonly duration: Histogram.Internal<'route'>
}

export class Metrics {
  readonly registry = new Registry()
  #inFlight = 0
  #webSockets = 0
  readonly #children = new Map<string, Child>()
  readonly #decisions = new Map<string, Counter.Internal>()

  readonly #requests = new Counter({
    name: 'seatgate_requests_total',
    help: 'Requests answered, by route and status; status 0: the client left before an answer.',
    labelNames: ['route', 'status'],
    registers: [this.registry],
  })
  readonly #durations = new Histogram({
    name: 'seatgate_request_duration_seconds',
    help: 'From the request line read to the last byte of the answer handed over.',
    labelNames: ['route'],
    buckets: BUCKETS,
    registers: [this.registry],
  })
  readonly #answers = new Counter({
    name: 'seatgate_decisions_total',
    help: 'Decisions by reason code; "allow" for yes.',
    labelNames: ['code'],
    registers: [this.registry],
  })
  readonly #sources = new Counter({
    name: 'seatgate_decisions_by_source_total',
    help: 'Decisions that took Seats or keys, by the slowest place they came from: memory, redis, store; refused: none of them could say.',
    labelNames: ['source'],
    registers: [this.registry],
  })
  readonly #ended = new Counter({
    name: 'seatgate_websockets_ended_total',
    help: 'WebSockets that were open, by who ended them: client, upstream, or the gateway because of a limit (idle, lifetime), a protocol_error, its own end (drain), or a decision that was no when made again (decided_again).',
    labelNames: ['by'],
    registers: [this.registry],
  })
  readonly #again = new Counter({
    name: 'seatgate_decisions_again_total',
    help: 'Decisions on what was open already, made because something changed or ended, by reason code; "allow" for still yes.',
    labelNames: ['code'],
    registers: [this.registry],
  })
  readonly #bySource = {
    memory: this.#sources.labels('memory'),
    redis: this.#sources.labels('redis'),
    store: this.#sources.labels('store'),
    refused: this.#sources.labels('refused'),
  }

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    this.gauge('seatgate_requests_in_flight', 'Requests being answered now.', () => this.#inFlight)
    this.gauge('seatgate_websockets_open', 'WebSockets that are open now.', () => this.#webSockets)
  }

  /**
   * Adds a gauge that is read when scraped.
   *
   * @param aggregator what several workers make of theirs
   */
  gauge(name: string, help: string, read: () => number, aggregator: 'sum' | 'min' | 'max' = 'sum'): void {
    new Gauge({
      name,
      help,
      aggregator,
      registers: [this.registry],
      collect() {
        this.set(read())
      },
    })
  }

  started(): void {
    this.#inFlight++
  }

  /** @param finishedAt monotonic ms */
  finished(exchange: Exchange, finishedAt: number): void {
    this.#inFlight--
    const decision = exchange.judgement?.decision
    const child = this.#child(decision?.route?.id ?? NO_ROUTE)
    this.#status(child, decision?.route?.id ?? NO_ROUTE, statusOf(exchange)).inc()
    child.duration.observe((finishedAt - exchange.startedAt) / 1000)
    this.#decision(exchange.refusal?.code ?? decision?.code ?? 'request_malformed').inc()
    if (decision === undefined) {
      if (exchange.refusal?.code === 'unavailable') this.#bySource.refused.inc()
    } else if (decision.source !== null) this.#bySource[decision.source].inc()
  }

  /** Its handshake has been counted as a request that was answered 101. */
  webSocketOpened(): void {
    this.#webSockets++
  }

  webSocketEnded(by: WebSocketEnd): void {
    this.#webSockets--
    this.#ended.labels(by).inc()
  }

  /** @param code `allow`, or the reason against */
  decidedAgain(code: string): void {
    this.#again.labels(code).inc()
  }

  /** A request that could not even be read. */
  unreadable(refusal: Refusal): void {
    this.#requests.labels(NO_ROUTE, String(refusal.status)).inc()
    this.#decision(refusal.code).inc()
  }

  /** Routes that are gone after a reload take their series with them. */
  forgetRoutes(kept: ReadonlySet<string>): void {
    for (const route of this.#children.keys()) {
      if (kept.has(route) || route === NO_ROUTE) continue
      this.#durations.remove(route)
      for (const status of this.#children.get(route)?.byStatus.keys() ?? [])
        this.#requests.remove(route, String(status))
      this.#children.delete(route)
    }
  }

  #child(route: string): Child {
    let child = this.#children.get(route)
    if (child === undefined) {
      child = { byStatus: new Map(), duration: this.#durations.labels(route) }
      this.#children.set(route, child)
    }
    return child
  }

  #status(child: Child, route: string, status: number): Counter.Internal {
    let counter = child.byStatus.get(status)
    if (counter === undefined) {
      counter = this.#requests.labels(route, String(status))
      child.byStatus.set(status, counter)
    }
    return counter
  }

  #decision(code: string): Counter.Internal {
    let counter = this.#decisions.get(code)
    if (counter === undefined) {
      counter = this.#answers.labels(code)
      this.#decisions.set(code, counter)
    }
    return counter
  }
}
