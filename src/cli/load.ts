/** Loads the configuration with its compiled route tables, and collects the faults of both. */

import { builtInPaths } from '../pipeline/built-in-routes.ts'
import { ConfigError, sortFaults } from '../config/faults.ts'
import { loadConfigWithFaults } from '../config/load.ts'
import { compileTable } from '../decision/router/table.ts'

/**
 * The table is for listing: its built-in routes have no working handlers. Warnings are about what is legal, but perhaps
 * unintentional; `fileWarnings` are those about the files themselves, which `start` logs.
 *
 * @throws ConfigError with every fault of the configuration and of its route tables
 */
export async function loadWithTables(file: string, env: NodeJS.ProcessEnv) {
  const { config, entries, upstreams, faults, files, ...loaded } = await loadConfigWithFaults(file, env)
  const { table, faults: collisions, ...compiled } = compileTable(entries, upstreams, builtInPaths())
  if (config === null || collisions.length > 0)
    throw new ConfigError(sortFaults([...faults, ...collisions]), files)
  const { warnings } = loaded
  return { config, table, warnings: [...warnings, ...compiled.warnings], fileWarnings: warnings }
}
