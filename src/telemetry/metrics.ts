/**
 * The metrics of a data plane, in the Prometheus text format. Labels are bounded: route ids, never paths; codes and
 * methods of fixed lists. Counters of every request are plain numbers (`tally.ts`).
 */

import { Counter, collectDefaultMetrics } from 'prom-client'
import type { Refusal } from '../model/errors.ts'
import type { CacheLookups, Lookups } from '../model/cache-lookups.ts'
import type { Exchange, WebSocketEnd } from '../http/server/exchange.ts'
import { statusOf } from './access-log.ts'
import { addMetric, GaugeRegistry, histogramValues, RouteTally } from './tally.ts'

/** Seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The route label of requests without a route. */
const NO_ROUTE = '(none)'

const DURATION = 'seatgate_request_duration_seconds'

/**
 * The decision that candidate tables would have made, against the one that was made. `other`: another refusal. `unjudged`: it
 * is not known, or was not when the request ended.
 */
export type ShadowResult = 'same' | 'allow_to_deny' | 'deny_to_allow' | 'other' | 'unjudged'

export class Metrics extends GaugeRegistry {
  #inFlight = 0
  #webSockets = 0
  readonly #routes = new Map<string, RouteTally>()
  readonly #decisions = new Map<string, number>()
  readonly #shadow: Record<ShadowResult, number> = {
    same: 0,
    allow_to_deny: 0,
    deny_to_allow: 0,
    other: 0,
    unjudged: 0,
  }
  readonly #sources = { memory: 0, redis: 0, store: 0, refused: 0 }

  readonly #ended = new Counter({
    name: 'seatgate_websockets_ended_total',
    help: 'WebSockets that have ended, by the cause: client, upstream, idle and lifetime (limits), protocol_error, drain (the gateway ends), decided_again (refused at re-evaluation).',
    labelNames: ['by'],
    registers: [this.registry],
  })
  readonly #webSocketsRefused = new Counter({
    name: 'seatgate_websockets_refused_total',
    help: 'Allowed handshakes refused with 503, by the bound: all (limits.websockets), tenant, caller.',
    labelNames: ['bound'],
    registers: [this.registry],
  })
  readonly #overShare = new Counter({
    name: 'seatgate_requests_over_share_total',
    help: 'Allowed requests refused with 503, as too many connections have requests in flight of the same tenant or, behind trusted_proxies, of the same address.',
    labelNames: ['of'],
    registers: [this.registry],
  })
  readonly #again = new Counter({
    name: 'seatgate_decisions_again_total',
    help: 'Re-evaluations of open requests and WebSockets, by reason code; "allow" where they stay open.',
    labelNames: ['code'],
    registers: [this.registry],
  })

  constructor() {
    super()
    collectDefaultMetrics({ register: this.registry })
    for (const bound of ['all', 'tenant', 'caller']) this.#webSocketsRefused.inc({ bound }, 0)
    for (const whose of ['tenant', 'address']) this.#overShare.inc({ of: whose }, 0)
    this.gauge('seatgate_requests_in_flight', 'Requests in flight.', () => this.#inFlight)
    this.gauge('seatgate_websockets_open', 'Open WebSockets.', () => this.#webSockets)
    this.#addRequests()
    this.#addDecisions()
  }

  #addRequests(): void {
    addMetric(
      this.registry,
      {
        name: 'seatgate_requests_total',
        help: 'Requests by route and status; status 0: the client disconnected before a response.',
        type: 'counter',
      },
      () =>
        [...this.#routes].flatMap(([route, { byStatus }]) =>
          [...byStatus].map(([status, value]) => ({ labels: { route, status: String(status) }, value })),
        ),
    )
    addMetric(
      this.registry,
      {
        name: DURATION,
        help: 'From the parsed header section to the last byte of the response.',
        type: 'histogram',
      },
      () =>
        [...this.#routes].flatMap(([route, tally]) => histogramValues(DURATION, BUCKETS, { route }, tally)),
    )
  }

  #addDecisions(): void {
    addMetric(
      this.registry,
      {
        name: 'seatgate_decisions_total',
        help: 'Decisions by reason code; "allow" for allowed requests.',
        type: 'counter',
      },
      () => [...this.#decisions].map(([code, value]) => ({ labels: { code }, value })),
    )
    addMetric(
      this.registry,
      {
        name: 'seatgate_decisions_by_source_total',
        help: 'Decisions on Seats or keys, by the slowest origin of the data: memory, redis, store; refused: none of them was available.',
        type: 'counter',
      },
      () => Object.entries(this.#sources).map(([source, value]) => ({ labels: { source }, value })),
    )
    addMetric(
      this.registry,
      {
        name: 'seatgate_shadow_decisions_total',
        help: 'Decisions that the tables of shadow would have made, against those that were made: same code, allow_to_deny, deny_to_allow, other (another refusal), unjudged (not known in time).',
        type: 'counter',
      },
      () => Object.entries(this.#shadow).map(([result, value]) => ({ labels: { result }, value })),
    )
  }

  addCaches(lookups: CacheLookups): void {
    const about = {
      name: 'seatgate_cache_lookups_total',
      help: 'Lookups in caches, by cache and result: hit, miss. A miss of tokens is a verification; of seats, seat_names, api_key_records and sessions, a read of Redis or the store.',
      type: 'counter',
    } as const
    addMetric(this.registry, about, () =>
      Object.entries<Lookups>({ ...lookups }).flatMap(([cache, { hits, misses }]) => [
        { labels: { cache, result: 'hit' }, value: hits },
        { labels: { cache, result: 'miss' }, value: misses },
      ]),
    )
  }

  requestStarted(): void {
    this.#inFlight++
  }

  requestEnded(): void {
    this.#inFlight--
  }

  /** Counts the request; may run later than its end. @param at monotonic ms of the end, or of the 101 */
  countRequest(exchange: Exchange, at: number): void {
    const decision = exchange.evaluation?.decision
    const tally = this.#route(decision?.route?.id ?? NO_ROUTE)
    tally.countStatus(statusOf(exchange))
    tally.observe((at - exchange.startedAt) / 1000)
    this.#countDecision(exchange.refusal?.code ?? decision?.code ?? 'request_malformed')
    if (decision === undefined) {
      if (exchange.refusal?.code === 'unavailable') this.#sources.refused++
    } else if (decision.source !== null) this.#sources[decision.source]++
  }

  /** The handshake was counted as a request with status 101. */
  webSocketOpened(): void {
    this.#webSockets++
  }

  webSocketEnded(by: WebSocketEnd): void {
    this.#webSockets--
    this.#ended.labels(by).inc()
  }

  webSocketRefused(bound: 'all' | 'tenant' | 'caller'): void {
    this.#webSocketsRefused.inc({ bound })
  }

  /** @param of the share that was used up */
  overShare(of: 'tenant' | 'address'): void {
    this.#overShare.inc({ of })
  }

  /** @param code `allow`, or the reason for the refusal */
  reevaluated(code: string): void {
    this.#again.labels(code).inc()
  }

  /** @param result of the comparison with candidate tables */
  countShadow(result: ShadowResult): void {
    this.#shadow[result]++
  }

  countUnreadable(refusal: Refusal): void {
    this.#route(NO_ROUTE).countStatus(refusal.status)
    this.#countDecision(refusal.code)
  }

  #countDecision(code: string): void {
    this.#decisions.set(code, (this.#decisions.get(code) ?? 0) + 1)
  }

  /** Removes the series of routes that a reload has removed. */
  retainRoutes(kept: ReadonlySet<string>): void {
    for (const route of this.#routes.keys())
      if (!kept.has(route) && route !== NO_ROUTE) this.#routes.delete(route)
  }

  #route(route: string): RouteTally {
    let tally = this.#routes.get(route)
    if (tally === undefined) {
      tally = new RouteTally(BUCKETS)
      this.#routes.set(route, tally)
    }
    return tally
  }
}
