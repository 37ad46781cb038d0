/** What the built-in endpoints that require a permission are made from. */

import {
  type AdminDeps,
  type AdminEndpoint,
  type Store,
  type TablesService,
} from '../../seats-admin/index.ts'
import type { Config } from '../config/config.ts'
import type { DecisionEngineOptions } from '../decision/engine.ts'
import type { RouteTable } from '../decision/router/table.ts'
import type { Activity } from '../model/activity.ts'
import type { FleetDeps } from '../pipeline/fleet-endpoints.ts'

/** Makes the endpoints for one configuration. */
export type MakeEndpoints = (deps: EndpointDeps) => AdminEndpoint[]

/** What the built-in endpoints use of the gateway, and of the configuration that they are made for. */
interface EndpointDeps extends Omit<AdminDeps, 'routePermissions'>, FleetDeps {
  readonly store: Store
  readonly activity: Activity
  /** Null: the tables are in files. */
  readonly tablesService: TablesService<Config> | null
  /** Throws until the tables, which have the endpoints as routes, are compiled. */
  readonly compiled: () => DecidingTables
}

/** The tables that decide requests, with the options of their engine. */
export interface DecidingTables {
  readonly config: Config
  readonly table: RouteTable
  readonly engine: DecisionEngineOptions
}
