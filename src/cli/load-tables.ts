/** Loads the configuration with its compiled route tables, and collects the faults of both. */

import type { ActiveTables } from '../../seats-admin/index.ts'
import type { Config, RouteEntry } from '../config/config.ts'
import { ConfigError, distinctFaults, sortFaults, type Warning } from '../config/faults.ts'
import { type LoadResult, loadConfigWithFaults } from '../config/load.ts'
import { compileTable, type RouteTable } from '../decision/router/table.ts'
import { builtInPaths } from '../composition.ts'

/** The configuration with its compiled tables, and the warnings about them. */
export interface Loaded {
  readonly config: Config
  /** The table, for lists and questions: its built-in routes have no working handlers. */
  readonly table: RouteTable
  /** The candidate tables; null if there are none. */
  readonly shadow: RouteTable | null
  /** Warnings about what is legal but may be unintentional. */
  readonly warnings: readonly Warning[]
  /** Warnings about the files themselves, which `start` logs. */
  readonly fileWarnings: readonly Warning[]
  /** Whether a comment in a file accepts it. */
  readonly accepts: LoadResult['accepts']
  /** For tables of the store; see `table-builder.ts`. */
  readonly tablesInput: LoadResult['tablesInput']
  readonly withBuilt: LoadResult['withBuilt']
  /**
   * The same main file with tables of the store.
   *
   * @throws ConfigError with every fault of these tables
   */
  readonly withTables: (tables: ActiveTables) => Loaded
}

/**
 * Loads the configuration with its tables.
 *
 * @param env null: variables are not replaced, and files such as certificates are not read; see
 *   `loadConfigWithFaults`
 * @param display the path of a file in messages and routes; by default relative to the working directory
 * @throws ConfigError with every fault of the configuration and of its route tables
 */
export async function loadWithTables(
  file: string,
  env: NodeJS.ProcessEnv | null,
  display?: (path: string) => string,
): Promise<Loaded> {
  return compiled(await loadConfigWithFaults(file, env, display))
}

function compiled(loaded: LoadResult): Loaded {
  const { config, faults, files, signature, fileWarnings } = loaded
  const builtIn = builtInPaths(loaded.api, {
    signIn: [...(config?.tenants.values() ?? [])].some(({ oidc }) => oidc !== null),
    identity: config?.identity != null,
  })
  const compile = (entries: readonly RouteEntry[]) =>
    compileTable(entries, loaded.upstreams, builtIn, loaded.api.hosts)
  const active = compile(loaded.entries)
  const shadow = loaded.shadowEntries === null ? null : compile(loaded.shadowEntries)
  const both = shadow === null ? [active] : [active, shadow]
  const collisions = distinctFaults(both.flatMap((each) => each.faults))
  if (config === null || collisions.length > 0)
    throw new ConfigError(sortFaults([...faults, ...collisions]), files, signature)
  const ofTables = distinctFaults(both.flatMap((each) => each.warnings)).filter(
    (each) => !loaded.accepts(each),
  )
  const warnings = sortFaults([...loaded.warnings, ...ofTables])
  const shadowTable = shadow?.table ?? null
  return {
    config,
    table: active.table,
    shadow: shadowTable,
    warnings,
    fileWarnings,
    accepts: loaded.accepts,
    tablesInput: loaded.tablesInput,
    withBuilt: loaded.withBuilt,
    withTables: (tables) => compiled(loaded.withTables(tables)),
  }
}
