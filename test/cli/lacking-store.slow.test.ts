/** Each command that opens a store refuses one that lacks a table, on both drivers, and writes nothing to it. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { folderWith, seatgate } from './command-line.ts'
import { argsOf, FILES, folderWithStore, isRemote, ROWS } from './every-command.ts'
import { seatgateHere } from './in-process.ts'

const COMMANDS = [
  ...Object.values(ROWS).map(({ works: [first = ''] }) => first),
  'check --online',
  'start',
].filter((line) => !isRemote(line))
const LACKS = /it lacks the table sessions, which version \d+ of the store has/

const run = (folder: string, line: string) =>
  (line === 'start' ? seatgate : seatgateHere)(folder, argsOf(line))

async function refuse(
  t: Test,
  folder: string,
  commands: readonly string[],
  state: () => unknown,
): Promise<void> {
  const before = await state()
  for (const line of commands) {
    const { code, out, err } = await run(folder, line)
    t.equal(code, 1, line)
    t.match(out + err, LACKS, line)
    t.match(out + err, /Restore the (?:file|schema)/, `${line}: with what to do`)
    t.notMatch(out + err, /"(?:ready|listening)/, line)
    t.same(await state(), before, `${line}: nothing is written`)
  }
}

/** A command opens the store if it fails where that is another program's file. */
async function opening(t: Test): Promise<string[]> {
  const folder = await folderWithStore(t)
  writeFileSync(join(folder, 'seatgate.db'), 'notes, not pages of a database\n'.repeat(100))
  const found: string[] = []
  for (const line of COMMANDS) {
    const { out, err } = await run(folder, line)
    if (/is not a Seatgate store/.test(out + err)) found.push(line)
  }
  return found
}

const commands = await opening(t)

t.test('SQLite', async (t) => {
  for (const name of [
    'start',
    'check --online',
    'explain',
    'fleet',
    'bootstrap',
    'who-can',
    'can',
    'lint',
    'audit verify',
  ])
    t.ok(
      commands.some((line) => line.startsWith(name)),
      `${name} opens a store`,
    )
  const folder = await folderWithStore(t)
  const path = join(folder, 'seatgate.db')
  {
    using database = new DatabaseSync(path)
    database.exec('DROP TABLE sessions')
  }
  await refuse(t, folder, commands, () => readFileSync(path, 'base64'))
})

t.test('PostgreSQL', async (t) => {
  const server = await startPostgres(t, { fsync: false })
  const url = await server.createDatabase('store')
  await (await openStore({ kind: 'postgres', url })).close()
  await server.query('DROP TABLE seatgate.sessions', [], 'store')
  const files = Object.entries(FILES).map(([name, file]) => [name, file.replace('sqlite:./seatgate.db', url)])
  const folder = folderWith(t, Object.fromEntries(files))
  const tables = await server.query(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'seatgate' ORDER BY 1`,
    [],
    'store',
  )
  const contents = tables.map(
    ({ tablename }) => `SELECT '${tablename}' AS name, to_jsonb(t) AS row FROM seatgate.${tablename} t`,
  )
  await refuse(t, folder, commands, () =>
    server.query(`${contents.join(' UNION ALL ')} ORDER BY 1, 2`, [], 'store'),
  )
})
