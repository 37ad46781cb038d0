/** All built-in endpoints: administration, questions about access, sign-in. */

import { type AdminDeps, type AdminEndpoint, createAdminApi, type Store } from '../../seats-admin/index.ts'
import { accessEndpoints } from '../access/access-endpoints.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import { explainEndpoint, type Explaining } from '../access/explain-endpoint.ts'
import { decisionsEndpoint } from '../access/decisions-endpoint.ts'
import { routesEndpoint } from '../access/routes-endpoint.ts'
import type { Tables } from '../access/tables.ts'
import type { Activity } from '../model/activity.ts'
import type { PublicHandler, Route } from '../model/route.ts'
import {
  builtInRoutes,
  consoleRoutes,
  keySetRoute,
  operationsOf,
  signInRoutes,
} from '../pipeline/built-in-routes.ts'
import { canaryEndpoint, type FleetDeps, fleetEndpoint } from '../pipeline/fleet-endpoints.ts'
import type { Operation } from '../pipeline/openapi/operation.ts'

export interface EndpointDeps extends AdminDeps, FleetDeps {
  readonly store: Store
  /** Those that decide requests. */
  readonly tables: () => Tables
  readonly explaining: () => Explaining
  readonly activity: Activity
}

/** Those that require a permission. */
export function builtInEndpoints(deps: EndpointDeps): AdminEndpoint[] {
  return [
    ...createAdminApi(deps),
    ...accessEndpoints(deps),
    explainEndpoint(deps),
    routesEndpoint(deps),
    decisionsEndpoint(deps),
    fleetEndpoint(deps),
    canaryEndpoint,
  ]
}

/**
 * The built-in routes without handlers that work, for commands, which only list them.
 *
 * @param signIn is configured @param identity is signed
 */
export function builtInPaths(
  place: BuiltInPlace = ROOT,
  { signIn = false, identity = false }: { readonly signIn?: boolean; readonly identity?: boolean } = {},
): Route[] {
  const served: PublicHandler = async () => unserved()
  return [
    ...builtInRoutes(builtInEndpoints(UNSERVED), place, () => undefined),
    ...signInRoutes(place, signIn ? served : null),
    keySetRoute(place, identity ? served : null),
    ...consoleRoutes(place, served),
  ]
}

/** The operations of the OpenAPI document, for the manual. */
export function builtInOperations(): Operation[] {
  return operationsOf(builtInEndpoints(UNSERVED), ROOT)
}

const ROOT: BuiltInPlace = { hosts: null, prefix: '', authPrefix: '', console: false }

const UNSERVED: EndpointDeps = {
  get store(): never {
    throw new Error('no store is open')
  },
  tables: unserved,
  fleet: unserved,
  explaining: unserved,
  asked: unserved,
  announce: async () => {},
  activity: { routeUses: unserved, decisions: unserved, watch: unserved },
  now: Date.now,
  seatBytes: 0,
}

function unserved(): never {
  throw new Error('no request is served')
}
