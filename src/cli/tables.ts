/** The route tables that a command compares or asks: those of a configuration file, of its folder, or of a revision. */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tables } from '../access/tables.ts'
import type { Config } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import type { RouteTable } from '../decision/router/table.ts'
import { loadWithTables } from './load.ts'
import { CONFIG } from './options.ts'
import { checkOut } from './revision.ts'

export function tablesOf(config: Config, table: RouteTable): Tables {
  return { table, methods: methodsOf(config), upstreams: config.upstreams }
}

export interface ReadTables {
  readonly tables: Tables
  /** The configuration file; that of the working directory in place of a revision's. */
  readonly file: string
}

const REVISION = /^git:([^:]+)(?::(.+))?$/

/**
 * Without variables of the environment: tables of another revision, or of another installation, are read as well.
 *
 * @param text a configuration file, its folder, or `git:REV`, perhaps with `:PATH`
 * @throws ConfigError with its faults
 */
export async function readTables(text: string): Promise<ReadTables> {
  const [, revision, path = CONFIG.default] = REVISION.exec(text) ?? []
  if (revision === undefined) {
    const own = await fileOf(text)
    return { tables: await compiled(own), file: own }
  }
  const { file, display, remove } = await checkOut(revision, path)
  try {
    return { tables: await compiled(file, display), file: CONFIG.default }
  } finally {
    await remove()
  }
}

async function compiled(file: string, display?: (path: string) => string): Promise<Tables> {
  const { config, table } = await loadWithTables(file, null, display)
  return tablesOf(config, table)
}

async function fileOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  return found?.isDirectory() === true ? join(path, CONFIG.default) : path
}
