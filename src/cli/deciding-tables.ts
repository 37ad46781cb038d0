/** The route tables that decide, for commands that need them: those of files, or of the store. */

import { type ActiveTables, type Store, tablesDigest } from '../../seats-admin/index.ts'
import { NO_TABLES } from '../../seats-admin/model/tables-version.ts'
import { quote } from '../config/invalid-value.ts'
import { loadConfig } from '../config/load.ts'
import { UsageError } from './arguments.ts'
import { CommandFailed, messageOf, type Terminal } from './command.ts'
import { missingFile, withStore } from './existing-store.ts'
import { type Loaded, loadWithTables } from './load-tables.ts'

/** A version of the store; null: the active one. */
export type WantedVersion = number | null

const VERSION = /^tables:(?:active|(?<number>[1-9][0-9]{0,14}))$/

export const TABLES_OPERAND = {
  name: 'TABLES',
  description: 'tables:VERSION for that version of the tables in the store; by default, those that decide',
  optional: true,
} as const

/**
 * Reads `tables:VERSION` or `tables:active`.
 *
 * @returns null: the text names no tables of the store
 * @throws UsageError if it begins like that and is neither
 */
export function versionIn(text: string): { readonly version: WantedVersion } | null {
  if (!text.startsWith('tables:')) return null
  const match = VERSION.exec(text)
  if (match === null) throw new UsageError(`${quote(text)} is neither tables:VERSION nor tables:active`)
  const { number } = match.groups ?? {}
  return { version: number === undefined ? null : Number(number) }
}

/** The version that an operand names. @throws UsageError */
export function versionOfOperand(text: string | undefined): WantedVersion | undefined {
  if (text === undefined) return undefined
  const named = versionIn(text)
  if (named === null) throw new UsageError(`TABLES ${quote(text)} is not tables:VERSION`)
  return named.version
}

interface DecidingOptions {
  /** Null: the configuration is read without variables, which only its store needs. */
  readonly env?: NodeJS.ProcessEnv | null
  /** Undefined: those that decide. */
  readonly version?: WantedVersion | undefined
}

/**
 * Loads a configuration with the tables that decide, or with a version of the store.
 *
 * @throws ConfigError with every fault; CommandFailed if the store cannot be read, or lacks the version
 */
export async function loadDecidingTables(
  file: string,
  terminal: Terminal,
  { env = terminal.env, version }: DecidingOptions = {},
): Promise<Loaded> {
  const loaded = await loadWithTables(file, env)
  if (loaded.config.tables.from === 'files') {
    if (version === undefined) return loaded
    throw new CommandFailed(
      `${file} has its route tables in files: versions are in a store, with tables: store`,
    )
  }
  return loaded.withTables(await storedTables(file, terminal, version ?? null))
}

/** Reads the variables of the configuration in any case: the address of the store may have some. */
async function storedTables(file: string, terminal: Terminal, version: WantedVersion): Promise<ActiveTables> {
  const config = await loadConfig(file, terminal.env)
  const { tables } = config
  if (tables.from === 'files') throw new CommandFailed(`${file} has changed: run it again`)
  const missing = version === null ? await missingFile(config.store) : null
  if (missing !== null) {
    terminal.printError(`note: there is no store at ${missing} yet: ${NONE}`)
    return NO_TABLES
  }
  const active = await withStore(config, terminal, (store) => tablesIn(store, tables.tenant, version)).catch(
    (cause: unknown) => {
      if (cause instanceof NoVersion) throw cause
      throw new CommandFailed(`the route tables are in the store, which cannot be read: ${messageOf(cause)}`)
    },
  )
  if (active.version === 0) terminal.printError(`note: no route tables were pushed to the store: ${NONE}`)
  return active
}

const NONE = 'the gateway has no routes but its own'

/** The store has no such version. */
class NoVersion extends CommandFailed {}

async function tablesIn(store: Store, tenant: string, number: WantedVersion): Promise<ActiveTables> {
  if (number === null) return (await store.activeTables(tenant)).value
  const version = await store.tablesVersion(tenant, number)
  if (version === null) throw new NoVersion(`the store has no version ${number} of the route tables`)
  const { files } = version
  if (files === null)
    throw new NoVersion(`the files of version ${number} are gone: those of the newest 100 versions are kept`)
  return { version: number, digest: tablesDigest(files), files }
}
