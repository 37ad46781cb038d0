/** Another program's data at the store's path is refused, without changing a byte of it or of the files beside it. */

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { lockStore } from '../../../../seats-admin/index.ts'
import { CONFIG, folderWith, ROUTES, seatgate } from '../../../cli/command-line.ts'
import { seatgateHere } from '../../../cli/in-process.ts'

/** A gateway logs to the standard output of its process. */
const COMMANDS: readonly (readonly [command: string[], opens: boolean])[] = [
  [['start'], true],
  [['explain', 'GET', '/v1/trainings'], true],
  [['bootstrap', '--tenant', 'acme'], true],
  [['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'A'], true],
  [['fleet'], true],
  [['check'], false],
  [['routes'], false],
]

/** Names with kind, mode and bytes; without times, as reading may change the access time. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const path = join(folder, name)
      const found = statSync(path)
      const bytes = found.isFile() ? readFileSync(path).toString('latin1') : 'folder'
      return [name, `${found.mode.toString(8)} ${found.ino} ${found.mtimeMs} ${bytes}`]
    }),
  )
}

function bookmarks(
  path: string,
  mode: 'wal' | 'delete',
  work: (database: DatabaseSync) => void = () => {},
): void {
  const database = new DatabaseSync(path)
  database.exec(
    `PRAGMA journal_mode = ${mode}; CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('a')`,
  )
  work(database)
  database.close()
}

/** Copies the files while the database is open, as after a crash. */
function copyAsAfterCrash(path: string, beside: string, mode: 'wal' | 'delete', work: string): void {
  const folder = mkdtempSync(`${dirname(path)}-`)
  const open = join(folder, 'open.db')
  bookmarks(open, mode, (database) => {
    database.exec(work)
    copyFileSync(open, path)
    copyFileSync(`${open}${beside}`, `${path}${beside}`)
    if (database.isTransaction) database.exec('ROLLBACK')
  })
}

const CASES: Readonly<Record<string, readonly [make: (path: string) => void, why: RegExp]>> = {
  'a database with a rollback journal': [
    (path) => bookmarks(path, 'delete'),
    /the file is not a Seatgate store/,
  ],
  'a WAL database': [(path) => bookmarks(path, 'wal'), /the file is not a Seatgate store/],
  'a WAL database with its log': [
    (path) => copyAsAfterCrash(path, '-wal', 'wal', "INSERT INTO bookmarks VALUES ('b')"),
    /the file is not a Seatgate store/,
  ],
  'a database with a hot journal': [
    (path) =>
      copyAsAfterCrash(
        path,
        '-journal',
        'delete',
        'PRAGMA cache_size = 1; BEGIN; CREATE TABLE t AS ' +
          'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) SELECT i, hex(randomblob(50)) FROM n',
      ),
    /the file is not a Seatgate store/,
  ],
  'an empty file': [(path) => writeFileSync(path, ''), /the file is empty/],
  'a text file': [(path) => writeFileSync(path, 'url: a\n'.repeat(500)), /file is not a database/],
  'a folder': [(path) => mkdirSync(path), /it is not a regular file/],
}

for (const [name, [make, why]] of Object.entries(CASES)) {
  t.test(name, async (t) => {
    const cwd = folderWith(t, {
      'gateway.config.yaml': CONFIG.replace('./seatgate.db', './theirs/their.db'),
      'routes/trainings.yaml': ROUTES,
    })
    const folder = join(cwd, 'theirs')
    mkdirSync(folder)
    make(join(folder, 'their.db'))
    const before = contents(folder)
    const ran = await Promise.all(
      COMMANDS.map(([command]) => (command[0] === 'start' ? seatgate : seatgateHere)(cwd, command)),
    )
    for (const [at, { code, err }] of ran.entries()) {
      const [command, opens] = COMMANDS[at] ?? [[], false]
      t.equal(code, opens ? 1 : 0, `${command[0]}: ${err}`)
      if (opens) t.match(err, why)
    }
    t.same(contents(folder), before, 'nothing has changed')
  })
}

t.test('an unreadable file', async (t) => {
  const cwd = folderWith(t, {})
  const path = join(cwd, 'their.db')
  bookmarks(path, 'delete')
  chmodSync(path, 0)
  const before = statSync(path).mtimeMs
  refused(t, path)
  t.same(readdirSync(cwd), ['their.db'])
  t.equal(statSync(path).mtimeMs, before)
})

/** An administrator can read every file, so the reason is the content. */
function refused(t: Test, path: string): void {
  const why = process.getuid?.() === 0 ? /not a Seatgate store/ : /EACCES/
  t.throws(() => lockStore(path), { message: why })
}
