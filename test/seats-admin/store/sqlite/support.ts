/** Files for tests of the store. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { openSqliteStore, type SqliteOptions, type Store } from '../../../../seats-admin/index.ts'
import { serverFolder } from '../../../support/servers/folder.ts'

/** A folder that is removed after the test. */
export function temporaryFolder(t: Test): string {
  return serverFolder(t, 'store')
}

/** Opens a store that is closed with the test. Its calls wait for a busy machine, unless the options say otherwise. */
export async function open(t: Test, options: SqliteOptions): Promise<Store> {
  const store = await openSqliteStore({ timeout: 60_000, ...options })
  t.teardown(() => store.close())
  return store
}

/** A new file with `count` stores, for tests that use it in turn. */
export function databases(count = 1) {
  return async (t: Test) => {
    const path = join(temporaryFolder(t), 'seatgate.db')
    const stores: Store[] = []
    while (stores.length < count) stores.push(await open(t, { path }))
    const run = async (script: string) => {
      using database = new DatabaseSync(path, { timeout: 60_000 })
      database.exec(script)
    }
    using database = new DatabaseSync(path)
    const tables = database.prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'counter'`,
    )
    const emptying = tables.all().map(({ name }) => `DELETE FROM ${name}`)
    return { stores, run, emptying: emptying.join(';') }
  }
}

/** Another program that runs a script, and has the file open until the test ends or it is told to close it. */
export async function otherProgram(t: Test, path: string, script: string): Promise<() => Promise<void>> {
  const program = fileURLToPath(new URL('./other-process.ts', import.meta.url))
  const child = spawn(process.execPath, [program, path, script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return async () => {
    child.stdin.end()
    await exit
  }
}

/** Runs a command with a disk of 2 MiB at `folder`, in a user namespace, where mounting needs no privilege. */
export function onSmallDisk(folder: string, ...command: string[]) {
  const mount = 'mount -t tmpfs -o size=2m none "$0" && exec "$@"'
  const options = ['--map-root-user', '--mount', 'sh', '-c', mount, folder, ...command]
  return spawnSync('unshare', options, { encoding: 'utf8', timeout: 60_000 })
}

export function canMount(folder: string): boolean {
  return onSmallDisk(folder, 'true').status === 0
}
