/** Builds tables of the store with their router: plain data in, plain data out, so that a thread can do it. */

import type { ActiveTables } from '../../seats-admin/index.ts'
import { builtInPaths } from '../composition.ts'
import type { RouteEntry } from '../config/config.ts'
import { contentHash } from '../config/content-hash.ts'
import { distinctFaults, type Fault, sortFaults } from '../config/faults.ts'
import type { LoadResult } from '../config/load.ts'
import { type BuiltTables, buildStored } from '../config/tables-of-store.ts'
import type { RouteContext } from '../config/table-settings.ts'
import { compileTable } from '../decision/router/table.ts'

/** What tables are built with, from a main file. */
export interface TablesInput extends Pick<
  LoadResult['tablesInput'],
  'context' | 'upstreams' | 'api' | 'methods'
> {
  /** Whether sign-in is configured, and whether identity is signed: both have routes. */
  readonly routes: { readonly signIn: boolean; readonly identity: boolean }
}

/** In place of the tables: their faults, those of the router included. */
export interface FaultyTables {
  readonly faults: readonly Fault[]
}

export function buildTables(
  { context, upstreams, api, methods, routes }: TablesInput,
  files: ActiveTables['files'],
): BuiltTables | FaultyTables {
  const { documents, comments, active, rateLimits } = buildStored({ files }, context)
  const entries = active.flatMap((table) => table.entries)
  const { faults } = compileTable(entries, upstreams, builtInPaths(api, routes), api.hosts)
  const all = [
    ...documents.flatMap((document) => document.faults),
    ...comments.flatMap((each) => each.faults),
    ...faults,
  ]
  if (all.length > 0) return { faults: sortFaults(distinctFaults(all)) }
  return { entries, rateLimits, hash: contentHash(entries, { upstreams, methods, api }) }
}

/** Sets become lists in a copy for a thread. */
type PlainContext = { readonly [Key in keyof RouteContext]: unknown }

export function plainContext(context: RouteContext): PlainContext {
  const { upstreams, passAuthorization, tenants, signIn, methods } = context
  return {
    ...context,
    upstreams: [...upstreams],
    passAuthorization: [...passAuthorization],
    tenants: [...tenants],
    signIn: [...signIn],
    methods: [...methods],
  }
}

export function contextOf(plain: PlainContext): RouteContext {
  const { upstreams, passAuthorization, tenants, signIn, methods, ...others } = plain as Record<
    'upstreams' | 'passAuthorization' | 'tenants' | 'signIn' | 'methods',
    readonly string[]
  > &
    Pick<RouteContext, 'maxBody' | 'rateLimits'>
  return {
    ...others,
    upstreams: new Set(upstreams),
    passAuthorization: new Set(passAuthorization),
    tenants: new Set(tenants),
    signIn: new Set(signIn),
    methods: new Set(methods),
  }
}

/** Entries of one message, so that their receiver takes no long turn of its event loop. */
export const ENTRIES_A_MESSAGE = 500

/** What the thread says: some entries, of which it sends more on request, and then the rest. */
export type ThreadMessage =
  | { readonly entries: readonly RouteEntry[] }
  | { readonly built: Omit<BuiltTables, 'entries'> }
  | FaultyTables
