/**
 * The listener that answers other proxies and programs. The core opens it through `runtime/extensions.ts`.
 */

import { withSeatsFrom } from '../../seats-admin/index.ts'
import { tablesOf } from '../access/tables.ts'
import type { Config, DecisionConfig } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import { seatsFromOf } from '../config/seats-source.ts'
import { ApiKeys } from '../decision/authn/api-key-authentication.ts'
import { NO_EXCEPTIONS } from '../decision/router/pattern.ts'
import { openRequestListener } from '../http/server/listener.ts'
import type { ListenerSettings } from '../http/server/listener-options.ts'
import { Refusal } from '../model/errors.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import type { PipelineConfig } from '../pipeline/pipeline-config.ts'
import { builtInOnlyStages } from '../pipeline/stage-lists.ts'
import { peerAddress, TrustedProxies } from '../proxy/forwarded.ts'
import type { CompiledConfig, DecisionPoint } from '../runtime/decision-point.ts'
import type { DecisionListener, DecisionListenerOptions } from '../runtime/extensions.ts'
import { AccessLog } from '../telemetry/access-log.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { authzenTable } from './authzen/authzen-endpoints.ts'
import { AUTHZEN_PATHS, AUTHZEN_ROUTES } from './authzen/discovery.ts'
import { PepEngine } from './authzen/pep-engine.ts'
import { envoyGrpcEndpoint } from './envoy-grpc/envoy-grpc-endpoint.ts'
import { DecisionHandler } from './handler.ts'
import { httpEndpoints } from './http-endpoints.ts'

const peerRefused = new Refusal('peer_refused', 'The address of the peer is not in decision.clients.')

/** Rejects with the error of Node.js if the address can't be bound. */
export async function openDecisionListener(options: DecisionListenerOptions): Promise<DecisionListener> {
  const { pipeline, decisionPoint, compiled, events, shared } = options
  const { config } = compiled
  const decision = configuredIn(config)
  const authzen = openAuthzen(options)
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
    address: listener.address,
    routes: AUTHZEN_ROUTES,
    prepare(next, tracer) {
      const parts = authzenConfig(decisionPoint, next, tracer)
      return () => {
        authzen.activate(parts)
        trusted = new TrustedProxies(next.config.trustedProxies)
        listener.configure(settingsOf(next.config, next.config.decision ?? decision))
      }
    },
    async close(drain) {
      await listener.close(drain)
      authzen.logEnded()
    },
  }
}

function configuredIn({ decision }: Config): DecisionConfig {
  if (decision === null) throw new Error('no decision listener is configured')
  return decision
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

function openAuthzen(options: DecisionListenerOptions): Pipeline {
  const { decisionPoint, compiled, tracer, metrics, log } = options
  const services = { log: new AccessLog(log.line, 'authzen'), metrics, files: decisionPoint.current }
  return new Pipeline(builtInOnlyStages, authzenConfig(decisionPoint, compiled, tracer), services)
}

/** The divisor of the bound of accepted keys: few programs send requests of AuthZEN. */
const KEYS_SHARE = 8

/**
 * The programs that may name their requests: all, as the listener has checked the address, and the engine
 * checks the key.
 */
const everyone = new TrustedProxies(['0.0.0.0/0', '::/0'])

/** The settings of a pipeline that serves AuthZEN by the tables of a configuration. */
function authzenConfig(
  decisionPoint: DecisionPoint,
  { config, table }: CompiledConfig,
  tracer: Tracer | null,
): PipelineConfig {
  const { memory, lease, lookups, keyUses } = decisionPoint
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
  const store = withSeatsFrom(decisionPoint.store, seatsFromOf(config))
  const url = config.decision?.url ?? null
  const parts = {
    table: authzenTable({ store, memory, lease, tables, tenants, url, now: Date.now }),
    seats: memory,
    restrictions: memory,
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
