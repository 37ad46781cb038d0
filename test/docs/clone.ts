/** A folder like a clone of the project after `npm ci`, for the commands of the manual. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { bootstrapTenant, openStore } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { root } from './pages.ts'

const LINKED = ['package.json', 'node_modules', 'src', 'seats-admin']
const COPIED = ['gateway.config.yaml', 'routes', 'policy']

/** As npx finds it in the folder of the project. What npm keeps of it in its cache is left out. */
const NPX = `#!/bin/sh
[ "$1" = seatgate ] || exit 64
shift
exec node src/cli/seatgate.js "$@"
`

export function cloneFolder(t: Test): string {
  const folder = serverFolder(t, 'manual')
  for (const name of LINKED) symlinkSync(join(root, name), join(folder, name))
  for (const name of COPIED) cpSync(join(root, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/npx'), NPX, { mode: 0o755 })
  commit(folder)
  return folder
}

/** The configuration, as a repository has it. */
function commit(folder: string): void {
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@acme.example', '-c', 'commit.gpgsign=false']
  for (const args of [
    ['init', '-q'],
    ['add', ...COPIED],
    [...author, 'commit', '-qm', 'tables'],
  ])
    execFileSync('git', args, { cwd: folder })
}

/** In the store of the shipped configuration: the first Seat of acme, and one named Viewer. */
export async function seatsIn(folder: string): Promise<void> {
  const store = await openStore({ kind: 'sqlite', path: join(folder, 'data/seatgate.db'), timeout: 60_000 })
  try {
    const now = Date.now()
    const first = await bootstrapTenant(store, { tenant: 'acme', adminSpace: 'admin', now })
    const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
    const viewer = { name: 'Viewer', spaces: ['main'], permissions: ['trainings:list', 'trainings:read'] }
    const made = await store.createSeat({ tenant: 'acme', by: 'test', scope, now }, viewer)
    for (const each of [first, made]) if (isRefusal(each)) throw new Error(each.detail)
  } finally {
    await store.close()
  }
}
