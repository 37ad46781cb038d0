/** The parts of one configuration that the pipeline uses. */

import type { DecisionEngine } from '../decision/engine.ts'
import type { ShadowEngine } from '../decision/shadow.ts'
import type { RequestShareLimits } from '../http/server/request-shares.ts'
import type { ValidationLimits } from '../http/server/request-validation.ts'
import type { SignedIdentity } from '../identity/signed-identity.ts'
import type { TrustedProxies } from '../proxy/forwarded.ts'
import type { Upstream } from '../proxy/upstream.ts'
import type { WebSocketLimits } from '../proxy/websocket/opening.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { SignInPorts } from './decided-refusals.ts'

/** A reload replaces it whole. */
export interface PipelineConfig extends SignInPorts {
  readonly engine: DecisionEngine
  /** Candidate tables, which answer nothing; null: there are none. */
  readonly shadow: ShadowEngine | null
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly trustedProxies: TrustedProxies
  /** The peers that name their requests by X-Request-ID. */
  readonly requestIdsFrom: TrustedProxies
  /** For answers to other proxies; null: identity is not signed. */
  readonly identity: SignedIdentity | null
  readonly limits: PipelineLimits
  /** Null: requests are not traced. */
  readonly tracer: Tracer | null
}

export interface PipelineLimits extends ValidationLimits, RequestShareLimits, WebSocketLimits {
  /** Milliseconds until the body of a request to a built-in endpoint has arrived. */
  readonly bodyTimeout: number
}
