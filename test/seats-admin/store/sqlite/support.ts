/** Files for tests of the store. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openSqliteStore, type SqliteOptions, type Store } from '../../../../seats-admin/index.ts'

/** A folder that is removed after the test. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-store-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Opens a store that is closed with the test, with a timeout for busy machines. */
export async function open(t: Test, options: SqliteOptions): Promise<Store> {
  const store = await openSqliteStore({ timeout: 20_000, ...options })
  t.teardown(() => store.close())
  return store
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
