/** Loads the configuration with its compiled route tables, and collects the faults of both. */

import { builtInPaths } from '../pipeline/built-in-routes.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, sortFaults, type Warning } from '../config/faults.ts'
import { loadConfigWithFaults } from '../config/load.ts'
import { compileTable, type RouteTable } from '../decision/router/table.ts'

/** The configuration with its compiled tables, and what is found about them. */
export interface Loaded {
  readonly config: Config
  /** For listing and for questions: its built-in routes have no working handlers. */
  readonly table: RouteTable
  /** About what is legal, but perhaps unintentional. */
  readonly warnings: readonly Warning[]
  /** Those about the files themselves, which `start` logs. */
  readonly fileWarnings: readonly Warning[]
}

/**
 * @param env null: variables are not replaced, and files such as certificates not read; see `loadConfigWithFaults`
 * @param display the path of a file as messages and routes have it; by default relative to the working directory
 * @throws ConfigError with every fault of the configuration and of its route tables
 */
export async function loadWithTables(
  file: string,
  env: NodeJS.ProcessEnv | null,
  display?: (path: string) => string,
): Promise<Loaded> {
  const loaded = await loadConfigWithFaults(file, env, display)
  const { config, faults, files, fileWarnings } = loaded
  const {
    table,
    faults: collisions,
    ...compiled
  } = compileTable(loaded.entries, loaded.upstreams, builtInPaths())
  if (config === null || collisions.length > 0)
    throw new ConfigError(sortFaults([...faults, ...collisions]), files)
  const ofTables = compiled.warnings.filter((each) => !loaded.accepts(each))
  const warnings = sortFaults([...loaded.warnings, ...ofTables])
  return { config, table, warnings, fileWarnings }
}
