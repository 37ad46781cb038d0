/** The AuthZEN endpoints of the decision listener, with the engine that decides who may ask. Loaded with the listener only. */

import { ApiKeys } from '../decision/authn/api-key-authentication.ts'
import { tablesOf } from '../access/tables.ts'
import { NO_EXCEPTIONS } from '../decision/router/pattern.ts'
import { methodsOf } from '../config/methods.ts'
import { PepEngine } from '../external-authorization/authzen/pep-engine.ts'
import { authzenTable } from '../external-authorization/authzen/authzen-endpoints.ts'
import type { PipelineConfig } from '../pipeline/pipeline-config.ts'
import { TrustedProxies } from '../proxy/forwarded.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { CompiledConfig, DecisionPoint } from './decision-point.ts'

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
    shadow: null,
    upstreams: new Map(),
    trustedProxies: new TrustedProxies(config.trustedProxies),
    requestIdsFrom: everyone,
    signIn: () => null,
    otherUserPage: (refusal) => refusal,
    identity: null,
    tracer,
    limits: { ...limits, methods: methodsOf(config) },
  }
}
