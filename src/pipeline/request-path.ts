/**
 * The way of a request: the stages that it passes, in order, and the observers that learn of it. There are three ways: a request to
 * the front door, a question of another proxy about a request, and a request of AuthZEN. Each is composed when a configuration is
 * activated. A new mechanism is a file in `stages/` or `observers/`, and a line here.
 */

import type { RateLimiter } from '../decision/limits/rate-limiter.ts'
import type { RequestShares } from '../http/server/request-shares.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ProcessActivity } from '../telemetry/process-activity.ts'
import type { EventStreams } from './event-streams.ts'
import { countRequests, endTraces, logRequests, rememberDecisions } from './observers/observed-exchanges.ts'
import { type Observer, Observers } from './observers/observer.ts'
import { ShadowDecisions } from './observers/shadow-decisions.ts'
import type { GatewayConfig, PipelineConfig } from './pipeline-config.ts'
import type { Refusals } from './refusals.ts'
import { composed, type Next, type Stage } from './stage.ts'
import { answerQuestion } from './stages/answer-question.ts'
import { evaluate } from './stages/evaluate.ts'
import { forwardToUpstream } from './stages/forward-to-upstream.ts'
import { grantPreflight } from './stages/grant-preflight.ts'
import { refuseDenied, type SignInPorts } from './stages/refuse-denied.ts'
import { type LocalPipeline, serveLocal } from './stages/serve-local.ts'
import { servePublic } from './stages/serve-public.ts'
import { shareConnections } from './stages/share-connections.ts'
import { type RefuseDecided, takeRateLimits } from './stages/take-rate-limits.ts'
import { validate, validateQuestion } from './stages/validate.ts'
import type { WebSockets } from './web-sockets.ts'

/** What outlives a configuration. */
export interface Mechanisms extends Pick<LocalPipeline, 'reevaluate' | 'held'> {
  readonly log: AccessLog
  readonly metrics: Metrics
  /** Null: decisions are not remembered. */
  readonly activity: ProcessActivity | null
  readonly refusals: Refusals
  readonly rateLimiter: RateLimiter
  readonly requestShares: RequestShares
  readonly webSockets: WebSockets
  readonly eventStreams: EventStreams
}

export interface RequestPath {
  /** For requests that the gateway forwards or serves. */
  readonly requests: Next
  /** For questions of other proxies. */
  readonly questions: Next
  readonly observers: Observers
}

/** Makes the way of requests under a configuration. */
export type PathOf<C extends PipelineConfig> = (config: C, mechanisms: Mechanisms) => RequestPath

/** The front door, and the questions of other proxies. */
export const gatewayPath: PathOf<GatewayConfig> = (config, mechanisms) => {
  const { limits, upstreams, shadow } = config
  const { refusals, requestShares, webSockets, metrics } = mechanisms
  const shadows =
    shadow === null ? [] : [new ShadowDecisions(shadow, (result) => metrics.countShadow(result))]
  const observers = observersOf(config, mechanisms, shadows)
  const { refuse, allowed, decision } = decisionStages(config, mechanisms, observers, config.signIn)
  return {
    observers,
    requests: composed([
      validate(limits, refusals.refuse),
      ...decision,
      shareConnections(requestShares, refuse),
      allowed,
      grantPreflight,
      forwardToUpstream(upstreams, webSockets, refusals.refuse),
      ...builtInStages(config, mechanisms),
    ]),
    questions: composed([
      validateQuestion(limits, refusals.refuse),
      ...decision,
      allowed,
      answerQuestion(upstreams, config.identity),
    ]),
  }
}

/** The endpoints of AuthZEN, which are built in. They take no questions. */
export const authzenPath: PathOf<PipelineConfig> = (config, mechanisms) => {
  const { refusals, requestShares } = mechanisms
  const observers = observersOf(config, mechanisms, [])
  const { refuse, allowed, decision } = decisionStages(config, mechanisms, observers, null)
  return {
    observers,
    requests: composed([
      validate(config.limits, refusals.refuse),
      ...decision,
      shareConnections(requestShares, refuse),
      allowed,
      ...builtInStages(config, mechanisms),
    ]),
    questions: composed([]),
  }
}

interface DecisionStages {
  readonly decision: readonly Stage[]
  /** The request is allowed, and is answered next. */
  readonly allowed: Stage
  /** In place of an allowed request. */
  readonly refuse: RefuseDecided
}

function decisionStages(
  config: PipelineConfig,
  { refusals, rateLimiter }: Mechanisms,
  observers: Observers,
  signIn: SignInPorts | null,
): DecisionStages {
  const refuse: RefuseDecided = (exchange, refusal) => {
    observers.decided(exchange, refusal)
    refusals.refuse(exchange, refusal, null)
  }
  return {
    refuse,
    decision: [
      evaluate(config.engine),
      ...(config.hasRateLimits ? [takeRateLimits(config, rateLimiter, refuse)] : []),
      refuseDenied(config.engine, signIn, observers, refusals),
    ],
    allowed(exchange, next) {
      observers.decided(exchange, null)
      return next(exchange)
    },
  }
}

function builtInStages({ limits }: PipelineConfig, mechanisms: Mechanisms): readonly Stage[] {
  const { refusals, eventStreams, reevaluate, held } = mechanisms
  const { refuse, failed } = refusals
  const { bodyTimeout } = limits
  return [
    serveLocal({ reevaluate, held, refuse, failed, bodyTimeout, streams: eventStreams }),
    servePublic(bodyTimeout, refusals),
  ]
}

function observersOf(
  { tracer, trustedProxies }: PipelineConfig,
  { metrics, activity, log }: Mechanisms,
  more: readonly Observer[],
): Observers {
  return new Observers([
    ...(activity === null ? [] : [rememberDecisions(activity)]),
    ...more,
    countRequests(metrics),
    ...(tracer === null ? [] : [endTraces]),
    logRequests(log, trustedProxies),
  ])
}
