/** The command of docs/operations.md that copies a store: the copy is the owner's alone, and a whole store. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { inspectStore } from '../../seats-admin/index.ts'
import { startWorld } from '../support/world.ts'

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
const command = /`(\(umask [^`]*\.backup copy\.db"\))`/.exec(page)?.[1] ?? 'exit 1'

t.test('the command of the page', async (t) => {
  if (spawnSync('sqlite3', ['--version']).status !== 0) return void t.pass({ skip: 'needs sqlite3' })
  const world = await startWorld(t)
  const folder = join(world.folder, 'copy')
  mkdirSync(folder)
  const { store } = world.config
  if (store.kind !== 'sqlite') throw new Error('the store is no file')
  execFileSync('sh', ['-c', `umask 022; ${command.replace('data/seatgate.db', store.path)}`], { cwd: folder })
  const path = join(folder, 'copy.db')
  t.equal(statSync(path).mode & 0o777, 0o600)
  const { version, current } = await inspectStore({ kind: 'sqlite', path }, 1000)
  t.equal(version, current)
})
