/** The listener that answers other proxies and programs: opens it, and makes the pipeline of AuthZEN. Loaded where it is used. */

import { tablesOf } from '../access/tables.ts'
import type { Config, DecisionConfig } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import { ApiKeys } from '../decision/authn/api-key-authentication.ts'
import { NO_EXCEPTIONS } from '../decision/router/pattern.ts'
import { authzenTable } from '../external-authorization/authzen/authzen-endpoints.ts'
import { AUTHZEN_PATHS } from '../external-authorization/authzen/discovery.ts'
import { PepEngine } from '../external-authorization/authzen/pep-engine.ts'
import { DecisionHandler } from '../external-authorization/handler.ts'
import { envoyGrpcEndpoint } from '../external-authorization/envoy-grpc/envoy-grpc-endpoint.ts'
import { httpEndpoints } from '../external-authorization/http-endpoints.ts'
import { openRequestListener } from '../http/server/listener.ts'
import type { ListenerEvents, ListenerSettings, RequestListener } from '../http/server/listener-options.ts'
import { Refusal } from '../model/errors.ts'
import type { DecisionPipeline } from '../pipeline/pipeline.ts'
import type { PipelineConfig } from '../pipeline/pipeline-config.ts'
import { peerAddress, TrustedProxies } from '../proxy/forwarded.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { CompiledConfig, DecisionPoint } from './decision-point.ts'

export interface DecisionListener {
  readonly listener: RequestListener
  /** Applies to new connections and questions; closes the connections of peers that are no longer admitted. The address stays. */
  configure(config: Config): void
}

export interface DecisionListenerOptions {
  readonly pipeline: DecisionPipeline
  /** Serves AuthZEN. */
  readonly authzen: DecisionPipeline
  readonly events: ListenerEvents
  /** The port is shared with other workers. */
  readonly shared: boolean
  readonly config: Config
}

const peerRefused = new Refusal('peer_refused', 'The address of the peer is not in decision.clients.')

/** Rejects with the error of Node.js where the address can't be bound. */
export async function openDecisionListener(
  decision: DecisionConfig,
  { pipeline, authzen, events, shared, config }: DecisionListenerOptions,
): Promise<DecisionListener> {
  let trusted = new TrustedProxies(config.trustedProxies)
  const proxies = () => trusted
  const endpoints = [
    ...httpEndpoints(pipeline, proxies),
    envoyGrpcEndpoint(pipeline, proxies),
    ...AUTHZEN_PATHS.map((path) => ({ path, pipeline: authzen, handle: authzen.handle.bind(authzen) })),
  ]
  const handler = new DecisionHandler(pipeline, endpoints)
  const settings = settingsOf(config, decision)
  const listener = await openRequestListener(decision.listen, handler, { settings, events, shared })
  return {
    listener,
    configure(next) {
      trusted = new TrustedProxies(next.trustedProxies)
      listener.configure(settingsOf(next, next.decision ?? decision))
    },
  }
}

/** A connection of a proxy carries questions of many clients: no bound by address applies to it. */
function settingsOf({ limits, memory }: Config, { clients }: DecisionConfig): ListenerSettings {
  const admitted = new TrustedProxies(clients)
  return {
    limits,
    proxyProtocol: false,
    trusts: () => false,
    memory: memory.connections,
    clientOf: () => null,
    priorKnowledge: true,
    shared: true,
    refusalOf: (peer) => (admitted.has(peerAddress(peer)) ? null : peerRefused),
    stall: limits.bodyTimeout,
  }
}

/** The divisor of the bound of accepted keys: few programs ask. */
const KEYS_SHARE = 8

/** Programs that may ask may name their requests: the listener has checked the address, and the engine checks the key. */
const everyone = new TrustedProxies(['0.0.0.0/0', '::/0'])

/** The settings of a pipeline that serves AuthZEN by the tables of a configuration. */
export function authzenPipeline(
  decisionPoint: DecisionPoint,
  { config, table }: CompiledConfig,
  tracer: Tracer | null,
): PipelineConfig {
  const { store, memory, lease, lookups, keyUses } = decisionPoint
  const { tenants, limits } = config
  const keys = new ApiKeys({
    tenants,
    apiKeyById: (tenant, id, trace) => memory.apiKeyById(tenant, id, trace),
    now: Date.now,
    memory: Math.ceil(config.memory.apiKeys / KEYS_SHARE),
    lookups: lookups.api_keys,
    keyUses,
  })
  const tables = tablesOf(config, table)
  const url = config.decision?.url ?? null
  const parts = {
    table: authzenTable({ store, memory, lease, tables, tenants, url, now: Date.now }),
    seats: memory,
    blocks: memory,
    lease,
    targetBytes: limits.targetBytes,
    config: config.hash,
    exceptions: () => NO_EXCEPTIONS,
  }
  return {
    engine: new PepEngine(parts, keys, tenants),
    trustedProxies: new TrustedProxies(config.trustedProxies),
    requestIdsFrom: everyone,
    tracer,
    limits: { ...limits, methods: methodsOf(config) },
  }
}
