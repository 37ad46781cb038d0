/**
 * The composition root. The core (`src/runtime` and the rooms below it) answers requests, and owns the
 * interfaces of what a gateway serves besides. Their implementations are passed to it here: `src/access` and
 * `src/external-authorization`. `docs/architecture.md` names the file of each step, and has a list of words.
 */

import { fileURLToPath } from 'node:url'
import { type AdminEndpoint, createAdminApi, type AdminDeps, type Store } from '../seats-admin/index.ts'
import { accessEndpoints } from './access/access-endpoints.ts'
import { requiredPermissions } from './access/required-permissions.ts'
import { decisionsEndpoint } from './access/decisions-endpoint.ts'
import { explainEndpoint, type Explaining } from './access/explain-endpoint.ts'
import { routesEndpoint } from './access/routes-endpoint.ts'
import { TableComparison } from './access/table-comparison.ts'
import { type Tables, tablesOf } from './access/tables.ts'
import { type TablesDeps, tablesEndpoints } from './access/tables-endpoints.ts'
import type { Config } from './config/config.ts'
import { methodsOf } from './config/methods.ts'
import { refusalOfRequestLine } from './http/server/request-validation.ts'
import type { Activity } from './model/activity.ts'
import type { BuiltInPlace } from './model/built-in-place.ts'
import type { PublicHandler, Route } from './model/route.ts'
import { builtInRoutes, operationsOf } from './pipeline/built-in-routes.ts'
import {
  canaryEndpoint,
  type FleetDeps,
  fleetEndpoint,
  fleetSecretsEndpoint,
} from './pipeline/fleet-endpoints.ts'
import type { Operation } from './pipeline/openapi/operation.ts'
import type { DecidingTables } from './runtime/endpoint-deps.ts'
import { type ConfigFiles, type Extensions, PATIENCE } from './runtime/extensions.ts'
import type { Gateway } from './runtime/gateway.ts'
import type { Log } from './telemetry/logger.ts'

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url))

/** Opens the store, compiles the tables and listens, as `startGateway` of `src/runtime` says. */
export async function startGateway(
  config: Config,
  log: Log,
  patience = PATIENCE,
  files: ConfigFiles | null = null,
): Promise<Gateway> {
  // Commands that only list routes or compare tables do not load the gateway, which has half of all modules.
  const core = await import('./runtime/start-gateway.ts')
  return core.startGateway(config, log, { extensions, worker: WORKER, patience, files })
}

export const extensions: Extensions = {
  endpoints: (deps) => builtInEndpoints({ ...deps, ...questionsAbout(deps.compiled) }),
  builtInPaths,
  // Its code is loaded only if the listener is configured.
  openDecisionListener: async (options) => {
    const { openDecisionListener } = await import('./external-authorization/decision-listener.ts')
    return openDecisionListener(options)
  },
  observeReloads: (log, metrics) => new TableComparison(log, metrics, builtInPaths),
}

interface EndpointParts extends AdminDeps, FleetDeps, Omit<TablesDeps, 'store'> {
  readonly store: Store
  readonly activity: Activity
  /** The tables that decide requests. */
  readonly tables: () => Tables
  readonly explaining: () => Explaining
}

function builtInEndpoints(parts: EndpointParts): AdminEndpoint[] {
  return [
    ...createAdminApi(parts),
    ...accessEndpoints(parts),
    explainEndpoint(parts),
    routesEndpoint(parts),
    ...tablesEndpoints(parts, builtInPaths),
    decisionsEndpoint(parts),
    fleetEndpoint(parts),
    fleetSecretsEndpoint(parts),
    canaryEndpoint,
  ]
}

/** What endpoints read of the tables whose routes they are. */
function questionsAbout(
  compiled: () => DecidingTables,
): Pick<EndpointParts, 'tables' | 'tablesLocation' | 'explaining' | 'routePermissions'> {
  let made: Tables | null = null
  const tables = () => {
    const { config, table } = compiled()
    return (made ??= tablesOf(config, table))
  }
  const explaining = () => {
    const { config, engine } = compiled()
    const { tenants, identity, limits } = config
    const lineLimits = { headerBytes: limits.headerBytes, methods: methodsOf(config) }
    const refusalOf: Explaining['refusalOf'] = (line) => refusalOfRequestLine(line, lineLimits)
    return { engine, tenants, identity, refusalOf }
  }
  const tablesLocation = () => compiled().config.tables
  return {
    tables,
    tablesLocation,
    explaining,
    routePermissions: requiredPermissions(() => tables().table.routes),
  }
}

/**
 * The built-in routes without handlers that work, for commands and comparisons, which only list them.
 *
 * @param place where the configuration serves them
 * @param more whether sign-in is configured, and whether identity is signed
 */
export function builtInPaths(
  place: BuiltInPlace = ROOT,
  { signIn = false, identity = false }: { readonly signIn?: boolean; readonly identity?: boolean } = {},
): Route[] {
  const served: PublicHandler = async () => unserved()
  return builtInRoutes(place, {
    endpoints: builtInEndpoints(UNSERVED),
    adminSpace: () => undefined,
    seatsFrom: () => null,
    signIn: signIn ? served : null,
    keySet: identity ? served : null,
    console: served,
    scim: served,
  })
}

/** The operations of the OpenAPI document, for the manual. */
export function builtInOperations(): Operation[] {
  return operationsOf(builtInEndpoints(UNSERVED), ROOT)
}

const ROOT: BuiltInPlace = { hosts: null, prefix: '', authPrefix: '', console: false, scim: false }

const UNSERVED: EndpointParts = {
  get store(): never {
    throw new Error('no store is open')
  },
  tables: unserved,
  tablesLocation: unserved,
  tablesService: null,
  fleet: unserved,
  fleetSecrets: unserved,
  explaining: unserved,
  routePermissions: unserved,
  announce: async () => {},
  revoking: {
    revoke: unserved,
    issuers: unserved,
    unreached: unserved,
    sign: null,
    answered: unserved,
  },
  activity: { routeUses: unserved, decisions: unserved, watch: unserved },
  now: Date.now,
  seatBytes: 0,
}

function unserved(): never {
  throw new Error('no request is served')
}
