/** The parts of one configuration that the pipeline uses. A reload replaces it whole. */

import type { DecisionEngine } from '../decision/engine.ts'
import type { ShadowEngine } from '../decision/shadow.ts'
import type { RequestShareLimits } from '../http/server/request-shares.ts'
import type { ValidationLimits } from '../http/server/request-validation.ts'
import type { SignedIdentity } from '../identity/signed-identity.ts'
import type { TrustedProxies } from '../proxy/forwarded.ts'
import type { Upstream } from '../proxy/upstream.ts'
import type { WebSocketLimits } from '../proxy/websocket/websocket-shares.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { SignInPorts } from './stages/refuse-denied.ts'

/** What every pipeline needs. */
export interface PipelineConfig {
  readonly engine: DecisionEngine
  readonly trustedProxies: TrustedProxies
  /** The peers that name their requests by X-Request-ID. */
  readonly requestIdsFrom: TrustedProxies
  readonly limits: PipelineLimits
  /** The tracer; null if requests are not traced. */
  readonly tracer: Tracer | null
}

/** What the front door needs besides. */
export interface GatewayConfig extends PipelineConfig {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Whether a table has an MCP server. */
  readonly hasMcp: boolean
  /** The redirects to sign-in; null if no tenant has sign-in. */
  readonly signIn: SignInPorts | null
  /** Candidate tables, which answer nothing; null if there are none. */
  readonly shadow: ShadowEngine | null
  /** The signed identity, for answers to other proxies; null if identity is not signed. */
  readonly identity: SignedIdentity | null
}

interface PipelineLimits extends ValidationLimits, RequestShareLimits, WebSocketLimits {
  /** Milliseconds until the body of a request to a built-in endpoint has arrived. */
  readonly bodyTimeout: number
}
