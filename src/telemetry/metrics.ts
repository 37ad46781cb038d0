/**
 * The metrics of a data plane, in the Prometheus text format. Labels are bounded: route ids, never paths;
 * codes and methods of fixed lists. Counters of every request are plain numbers (`tally.ts`).
 */

import type { Refusal } from '../model/errors.ts'
import type { CacheLookups, Lookups } from '../model/cache-lookups.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { nextHop } from '../http/server/next-hop.ts'
import type { WebSocketEnd } from '../http/server/open-web-socket.ts'
import { type Route, upstreamOf } from '../model/route.ts'
import { statusOf } from './access-log.ts'
import type { SpanCounts } from './tracing/exporter.ts'
import { MetricRegistry } from './metric-registry.ts'
import { histogramValues, RouteTally } from './tally.ts'
import { getOrInsertComputed } from '../lib/get-or-insert.ts'

/** Seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The label `route` or `upstream` of requests without a route. */
const NO_ROUTE = '(none)'

const DURATION = 'seatgate_request_duration_seconds'
const UPSTREAM_DURATION = 'seatgate_upstream_duration_seconds'

/**
 * The decision that candidate tables would have made, against the one that was made. `other`: another
 * refusal. `unjudged`: it is not known, or was not when the request ended.
 */
export type ShadowResult = 'same' | 'allow_to_deny' | 'deny_to_allow' | 'other' | 'unjudged'

/** What a rate limiter has counted. */
interface RateLimitCounts {
  /** The number of refused requests by limit. */
  readonly refused: ReadonlyMap<string, number>
  readonly passedByShare: number
  readonly shared: number
  readonly processes: number
  readonly borrowed: number
  readonly failed: number
  readonly size: number
}

export class Metrics extends MetricRegistry {
  #inFlight = 0
  #webSockets = 0
  /** Whether requests are counted by upstream: by the value of `route` otherwise. */
  #byUpstream = false
  readonly #routes = new Map<string, RouteTally>()
  readonly #upstreams = new Map<string, RouteTally>()
  /** Requests of a tenant's callers, by the first digit of the status. */
  readonly #tenants = new Map<string, number[]>()
  readonly #decisions = new Map<string, number>()
  readonly #shadow: Record<ShadowResult, number> = {
    same: 0,
    allow_to_deny: 0,
    deny_to_allow: 0,
    other: 0,
    unjudged: 0,
  }
  /** The tracer counts here. */
  readonly spans: SpanCounts = { exported: 0, dropped: 0, failed: 0 }
  readonly #sources = { memory: 0, redis: 0, store: 0, refused: 0 }

  readonly #ended = this.counter(
    'seatgate_websockets_ended_total',
    'Ended WebSockets, by cause: client, upstream, idle and lifetime (limits), protocol_error, drain (the gateway shuts down), decided_again (refused at re-evaluation).',
    ['by'],
  )
  readonly #webSocketsRefused = this.counter(
    'seatgate_websockets_refused_total',
    'Allowed handshakes refused with 503, by the limit reached: all (limits.websockets), tenant, caller.',
    ['bound'],
    ['all', 'tenant', 'caller'],
  )
  readonly #overShare = this.counter(
    'seatgate_requests_over_share_total',
    'Allowed requests refused with 503 because too many connections have requests in flight for the same tenant or, behind trusted_proxies, for the same address.',
    ['of'],
    ['tenant', 'address'],
  )
  readonly #again = new Map<string, number>()

  constructor() {
    super()
    this.addProcess()
    this.gauge('seatgate_requests_in_flight', 'Requests in flight.', () => this.#inFlight)
    this.gauge('seatgate_websockets_open', 'Open WebSockets.', () => this.#webSockets)
    this.#addRequests()
    this.#addTenants()
    this.#addDecisions()
    this.read(
      'counter',
      'seatgate_spans_total',
      'Spans of traced requests, by result: exported, dropped (the queue was full), failed (the collector did not take them).',
      () => Object.entries(this.spans).map(([result, value]) => ({ labels: { result }, value })),
    )
  }

  #addRequests(): void {
    this.read(
      'counter',
      'seatgate_requests_total',
      'Requests by route and status. Status 0: the client disconnected before a response. With metrics.routes: false, by upstream and status.',
      () =>
        [...this.#routes].flatMap(([route, { byStatus }]) =>
          [...byStatus].map(([status, value]) => ({
            labels: { [this.#label]: route, status: String(status) },
            value,
          })),
        ),
    )
    this.read(
      'histogram',
      DURATION,
      'Time from the parsed header section to the last byte of the response, by route. With metrics.routes: false, by upstream.',
      () =>
        [...this.#routes].flatMap(([route, tally]) =>
          histogramValues(DURATION, BUCKETS, { [this.#label]: route }, tally),
        ),
    )
    this.read(
      'histogram',
      UPSTREAM_DURATION,
      'Time from the request to an upstream until the header section of its response, including retries.',
      () =>
        [...this.#upstreams].flatMap(([upstream, tally]) =>
          histogramValues(UPSTREAM_DURATION, BUCKETS, { upstream }, tally),
        ),
    )
  }

  get #label(): 'route' | 'upstream' {
    return this.#byUpstream ? 'upstream' : 'route'
  }

  #addTenants(): void {
    this.read(
      'counter',
      'seatgate_tenant_requests_total',
      'Requests with an accepted credential, by its tenant and status class, such as 2xx. none: the client disconnected before a response.',
      () =>
        [...this.#tenants].flatMap(([tenant, counts]) =>
          counts.flatMap((value, digit) =>
            value === 0 ? [] : [{ labels: { tenant, status: digit === 0 ? 'none' : `${digit}xx` }, value }],
          ),
        ),
    )
  }

  #addDecisions(): void {
    this.read(
      'counter',
      'seatgate_decisions_total',
      'Decisions by reason code; "allow" for allowed requests.',
      () => [...this.#decisions].map(([code, value]) => ({ labels: { code }, value })),
    )
    this.read(
      'counter',
      'seatgate_decisions_by_source_total',
      'Decisions on Seats or keys, by the slowest source of the data: memory, redis, store. refused: none of them was available.',
      () => Object.entries(this.#sources).map(([source, value]) => ({ labels: { source }, value })),
    )
    this.read(
      'counter',
      'seatgate_shadow_decisions_total',
      'Decisions that the shadow tables would have made, compared with the actual ones: same code, allow_to_deny, deny_to_allow, other (another refusal), unjudged (not known in time).',
      () => Object.entries(this.#shadow).map(([result, value]) => ({ labels: { result }, value })),
    )
  }

  addCaches(lookups: CacheLookups): void {
    this.read(
      'counter',
      'seatgate_cache_lookups_total',
      'Cache lookups, by cache and result (hit, miss). A miss in tokens causes a verification. A miss in seats, seat_names or api_key_records causes a read from Redis or the store; in sessions, memberships, grants or blocks, from the store.',
      () =>
        Object.entries<Lookups>({ ...lookups }).flatMap(([cache, { hits, misses }]) => [
          { labels: { cache, result: 'hit' }, value: hits },
          { labels: { cache, result: 'miss' }, value: misses },
        ]),
    )
  }

  /** @param repeated before their response */
  addDecisionsAgain(repeated: () => number): void {
    this.read(
      'counter',
      'seatgate_decisions_again_total',
      'Decisions that were made again. Of open requests and WebSockets that are re-evaluated, by reason code; "allow" if they stay open. Any other one, "changed": a record that it had read changed while it waited for another.',
      () =>
        [['changed', repeated()] as const, ...this.#again].map(([code, value]) => ({
          labels: { code },
          value,
        })),
    )
  }

  addRateLimits(limiter: RateLimitCounts): void {
    this.read(
      'counter',
      'seatgate_rate_limited_total',
      'Requests refused with 429, by the name of the limit.',
      () => [...limiter.refused].map(([limit, value]) => ({ labels: { limit }, value })),
    )
    this.read(
      'counter',
      'seatgate_rate_limit_passed_by_share_total',
      "Requests that passed by this process's share of a limit because the instances could not share it.",
      () => [{ labels: {}, value: limiter.passedByShare }],
    )
    this.read(
      'counter',
      'seatgate_rate_limit_loans_failed_total',
      'Slices of rate limits that could not be borrowed because Redis did not reply in time.',
      () => [{ labels: {}, value: limiter.failed }],
    )
    this.gauge(
      'seatgate_rate_limit_tokens_borrowed',
      'Borrowed rate-limit tokens that are not yet used.',
      () => limiter.borrowed,
    )
    this.gauge(
      'seatgate_rate_limits_divided',
      'Rate limits that are divided: each process enforces its share because Redis is unavailable or not configured.',
      () => limiter.shared,
    )
    this.gauge(
      'seatgate_rate_limit_processes',
      'Number of processes of all live instances, by which divided rate limits are divided.',
      () => limiter.processes,
      'min',
    )
    this.gauge(
      'seatgate_rate_limit_keys',
      'Callers, tenants, addresses and routes whose rate-limit tokens are in memory.',
      () => limiter.size,
    )
  }

  requestStarted(): void {
    this.#inFlight++
  }

  /**
   * The request has ended.
   *
   * @param at monotonic ms of the end, or of the 101
   */
  countRequest(exchange: Exchange, at: number): void {
    this.#inFlight--
    const decision = exchange.evaluation?.decision
    const status = statusOf(exchange)
    const route = decision?.route ?? null
    const tally = tallyOf(this.#routes, route === null ? NO_ROUTE : this.#nameOf(route))
    tally.countStatus(status)
    tally.observe((at - exchange.startedAt) / 1000)
    const hop = nextHop.get(exchange)
    if (hop !== undefined && hop.respondedAt > 0 && route !== null)
      tallyOf(this.#upstreams, upstreamOf(route)).observe((hop.respondedAt - hop.startedAt) / 1000)
    if (decision !== undefined && decision.principal !== null)
      this.#countTenant(decision.principal.tenant, status)
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
    this.#again.set(code, (this.#again.get(code) ?? 0) + 1)
  }

  /** @param result of the comparison with candidate tables */
  countShadow(result: ShadowResult): void {
    this.#shadow[result]++
  }

  countUnreadable(refusal: Refusal): void {
    tallyOf(this.#routes, NO_ROUTE).countStatus(refusal.status)
    this.#countDecision(refusal.code)
  }

  #countDecision(code: string): void {
    this.#decisions.set(code, (this.#decisions.get(code) ?? 0) + 1)
  }

  #countTenant(tenant: string, status: number): void {
    const counts = getOrInsertComputed(this.#tenants, tenant, () => [0, 0, 0, 0, 0, 0])
    const digit = Math.floor(status / 100)
    counts[digit] = (counts[digit] ?? 0) + 1
  }

  /**
   * Applies a configuration: removes the series of what it no longer has. A change of `byUpstream` begins new
   * series.
   *
   * @param byUpstream requests are counted by upstream instead of route, for tables with thousands of routes
   */
  configure(byUpstream: boolean, kept: KeptSeries): void {
    if (byUpstream !== this.#byUpstream) this.#routes.clear()
    this.#byUpstream = byUpstream
    const named = kept.routes.map((route) => this.#nameOf(route))
    retain(this.#routes, new Set([NO_ROUTE, ...named, ...kept.endpoints]))
    retain(this.#upstreams, kept.upstreams)
    retain(this.#tenants, kept.tenants)
  }

  #nameOf(route: Route): string {
    return this.#byUpstream ? upstreamOf(route) : route.id
  }
}

/** What has series: the names of a configuration bound the labels. */
interface KeptSeries {
  readonly routes: readonly Route[]
  /** Ids of routes of the gateway's own that no table has. */
  readonly endpoints: readonly string[]
  readonly upstreams: { has(name: string): boolean }
  readonly tenants: { has(id: string): boolean }
}

function retain(series: Map<string, unknown>, kept: { has(name: string): boolean }): void {
  for (const name of series.keys()) if (!kept.has(name)) series.delete(name)
}

function tallyOf(tallies: Map<string, RouteTally>, name: string): RouteTally {
  return getOrInsertComputed(tallies, name, () => new RouteTally(BUCKETS))
}
