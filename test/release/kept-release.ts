/**
 * Stores and configurations of each release, in `upgrades/VERSION`: as its commands and endpoints have written them, for the
 * upgrades of later versions. The writer is run once, for the version that is released:
 *
 *   SEATGATE_WRITE_RELEASE=1.0.0 npm run test:some -- test/release/upgrade.slow.test.ts
 */

import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { findPostgres } from '../support/servers/postgres-template.ts'
import { type PostgresServer, startPostgres } from '../support/servers/postgres.ts'

export const UPGRADES = fileURLToPath(new URL('upgrades', import.meta.url))

/** The configuration and the tables, which are those that are shipped. */
export const CONFIGURATION = ['gateway.config.yaml', 'routes'] as const

/** What the release has answered, by the driver. */
export interface Facts {
  /** The API key of the bootstrap, one of Seat Viewer, and one that was revoked. */
  readonly keys: { readonly admin: string; readonly viewer: string; readonly revoked: string }
  readonly seats: readonly string[]
  readonly blocked: string
  /** The number of entries in the audit. */
  readonly audit: number
}

export interface Driver {
  readonly name: 'sqlite' | 'postgres'
  /** The value of `store` for a new store in this folder, with the content of a file that {@link save} has written. */
  open(t: Test, folder: string, file?: string): Promise<string>
  /** Writes the content of the store. No gateway runs. */
  save(store: string, file: string): Promise<void>
}

const sqlite: Driver = {
  name: 'sqlite',
  async open(_, folder, file) {
    if (file !== undefined) cpSync(file, join(folder, 'seatgate.db'))
    return `sqlite:${join(folder, 'seatgate.db')}`
  },
  async save(store, file) {
    rmSync(file, { force: true })
    const database = new DatabaseSync(store.replace('sqlite:', ''), { readOnly: true })
    database.exec(`VACUUM INTO '${file}'`)
    database.close()
  },
}

let server: Promise<PostgresServer> | null = null
let databases = 0

const postgres: Driver = {
  name: 'postgres',
  async open(t, _, file) {
    server ??= startPostgres(t)
    const running = await server
    const name = `store_${(databases += 1)}`
    const url = await running.createDatabase(name)
    if (file !== undefined) await running.query(readFileSync(file, 'utf8'), [], name)
    return url
  },
  async save(store, file) {
    const { program } = await findPostgres()
    const dump = join(dirname(program.path), 'pg_dump')
    const options = ['--inserts', '--no-owner', '--no-privileges', '--no-comments']
    const { stdout } = await promisify(execFile)(dump, [...options, store], { env: { ...program.env } })
    // Settings and commands of psql depend on the version of PostgreSQL.
    const lines = stdout
      .split('\n')
      .filter((line) => !/^(?:--|SET |\\|SELECT pg_catalog\.set_config)/.test(line))
    writeFileSync(
      file,
      lines
        .join('\n')
        .replaceAll(/\n{2,}/g, '\n')
        .trimStart(),
    )
  },
}

export const DRIVERS = [sqlite, postgres] as const

/** The versions whose stores are kept. */
export function keptVersions(): string[] {
  return existsSync(UPGRADES) ? readdirSync(UPGRADES).sort() : []
}

export function fileOf(version: string, { name }: Driver): string {
  return join(UPGRADES, version, `${name}.${name === 'sqlite' ? 'store' : 'sql'}`)
}

export function factsOf(version: string, { name }: Driver): Facts {
  return JSON.parse(readFileSync(join(UPGRADES, version, `${name}.json`), 'utf8'))
}

/** Keeps what a release has written. @param folder of its configuration */
export async function keep(
  version: string,
  driver: Driver,
  made: { folder: string; store: string; facts: Facts },
): Promise<void> {
  const target = join(UPGRADES, version)
  mkdirSync(target, { recursive: true })
  for (const name of CONFIGURATION) cpSync(join(made.folder, name), join(target, name), { recursive: true })
  await driver.save(made.store, fileOf(version, driver))
  writeFileSync(join(target, `${driver.name}.json`), `${JSON.stringify(made.facts, null, 2)}\n`)
}
