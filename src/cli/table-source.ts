/** The route tables that a command compares or asks: those of a configuration file, of its folder, or of a revision. */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Tables, tablesOf } from '../access/tables.ts'
import { CommandFailed } from './command.ts'
import { loadWithTables } from './load-tables.ts'
import { CONFIG } from './shared-options.ts'
import { checkOut, isRevision } from './revision.ts'

export interface ReadTables {
  readonly tables: Tables
  /** The configuration file; that of the working directory in place of a revision's. */
  readonly file: string
}

const SIDE = /^(?<shadow>shadow:)?(?:git:(?<revision>[^:]+)(?::(?<path>.+))?|(?<own>.*))$/s

/**
 * Without variables of the environment: tables of another revision, or of another installation, are read as well.
 *
 * @param text a configuration file, its folder, or `git:REV`, perhaps with `:PATH`; behind `shadow:` for its candidate tables
 * @throws ConfigError with its faults
 */
export async function readTables(text: string): Promise<ReadTables> {
  const { shadow, revision, path = CONFIG.default, own = '' } = SIDE.exec(text)?.groups ?? {}
  const which = shadow === undefined ? 'routes' : 'shadow'
  if (revision === undefined) {
    const file = await fileOf(own, shadow)
    return { tables: await compiled(file, which), file }
  }
  const { file, display, remove } = await checkOut(revision, path)
  try {
    return { tables: await compiled(file, which, display), file: CONFIG.default }
  } finally {
    await remove()
  }
}

async function compiled(
  file: string,
  which: 'routes' | 'shadow',
  display?: (path: string) => string,
): Promise<Tables> {
  const { config, table, shadow } = await loadWithTables(file, null, display)
  if (which === 'routes') return tablesOf(config, table)
  if (shadow === null) throw new CommandFailed(`${display?.(file) ?? file} has no candidate tables: shadow`)
  return tablesOf(config, shadow)
}

/** @param prefix `shadow:`, where it stands before the path */
async function fileOf(path: string, prefix = ''): Promise<string> {
  const found = await stat(path).catch(() => null)
  if (found === null && (await isRevision(path.split(':')[0] ?? '')))
    throw new CommandFailed(
      `there is no file ${path}, but git has a revision of this name: write ${prefix}git:${path}`,
    )
  return found?.isDirectory() === true ? join(path, CONFIG.default) : path
}
