/** The configuration for a command that needs all of it: with its route tables compiled, and every fault of both at once. */

import { builtInPaths } from '../pipeline/built-in-routes.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Fault, sortFaults } from '../config/faults.ts'
import { loadConfigWithFaults } from '../config/load.ts'
import { compileTable, type RouteTable } from '../decision/router/table.ts'

export interface LoadedWhole {
  readonly config: Config
  /** To look at: nothing answers behind its built-in routes. */
  readonly table: RouteTable
  /** What is no fault, but may not be what was meant. */
  readonly warnings: readonly Fault[]
}

/** @throws ConfigError with every fault of the file and of its route tables, taken together too */
export async function loadWhole(file: string, env: NodeJS.ProcessEnv): Promise<LoadedWhole> {
  const { config, entries, upstreams, faults, files } = await loadConfigWithFaults(file, env)
  const { table, faults: collisions, warnings } = compileTable(entries, upstreams, builtInPaths())
  if (config === null || collisions.length > 0)
    throw new ConfigError(sortFaults([...faults, ...collisions]), files)
  return { config, table, warnings }
}
