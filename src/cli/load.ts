/** Loads the configuration with its compiled route tables, and collects the faults of both. */

import { builtInPaths } from '../pipeline/built-in-routes.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Fault, sortFaults } from '../config/faults.ts'
import { loadConfigWithFaults } from '../config/load.ts'
import { compileTable, type RouteTable } from '../decision/router/table.ts'

export interface LoadedConfig {
  readonly config: Config
  /** For listing: its built-in routes have no working handlers. */
  readonly table: RouteTable
  /** Legal, but perhaps unintentional. */
  readonly warnings: readonly Fault[]
}

/** @throws ConfigError with every fault of the configuration and of its route tables */
export async function loadWithTables(file: string, env: NodeJS.ProcessEnv): Promise<LoadedConfig> {
  const { config, entries, upstreams, faults, files } = await loadConfigWithFaults(file, env)
  const { table, faults: collisions, warnings } = compileTable(entries, upstreams, builtInPaths())
  if (config === null || collisions.length > 0)
    throw new ConfigError(sortFaults([...faults, ...collisions]), files)
  return { config, table, warnings }
}
