/**
 * The data directory that every test's PostgreSQL starts from: made by initdb once a version and user, then
 * copied, which is some ten times faster.
 */

import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram, type Program } from './binaries.ts'
import { cacheFolder } from './cache.ts'
import { giveTo, ordinaryUser } from './folder.ts'

const run = promisify(execFile)

/** The superuser of every server. */
export const OWNER = 'seatgate'

const OPTIONS = [
  `--username=${OWNER}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--no-sync',
  // Small files for the log: what is copied shrinks from 40 to 25 MiB.
  '--wal-segsize=1',
]

/** The server, and initdb from the same folder: another version's data would not do. */
export async function findPostgres(): Promise<{ program: Program; initdb: string }> {
  const { path, env } = await findProgram('postgres')
  const real = realpathSync(path)
  return { program: { path: real, env }, initdb: join(dirname(real), 'initdb') }
}

/** Makes `target` a data directory, and resolves with the superuser's password. */
export async function copyTemplate(target: string): Promise<string> {
  const template = await prepareTemplate()
  // Keeps the owner, and asks the file system for a copy without copying if it can.
  await run('cp', ['-R', '-p', join(template, 'data'), target])
  return readFileSync(join(template, 'password'), 'utf8')
}

/** Makes the template unless there is one. Resolves with its folder. */
export async function prepareTemplate(): Promise<string> {
  const { program, initdb } = await findPostgres()
  const { stdout: version } = await run(program.path, ['--version'], { env: program.env })
  const user = ordinaryUser()
  const made = JSON.stringify([version, program.path, OPTIONS, user ?? process.getuid?.()])
  const name = `postgres-${createHash('sha256').update(made).digest('hex').slice(0, 16)}`
  const final = join(cacheFolder(), name)
  if (!existsSync(final)) await makeTemplate(initdb, program, final)
  return final
}

async function makeTemplate(initdb: string, program: Program, final: string): Promise<void> {
  const work = mkdtempSync(`${final}-`)
  const user = ordinaryUser()
  try {
    const password = join(work, 'password')
    writeFileSync(password, randomBytes(16).toString('hex'))
    for (const path of [work, password]) giveTo(path, user)
    const args = ['-D', join(work, 'data'), `--pwfile=${password}`, ...OPTIONS]
    await run(initdb, args, { ...user, cwd: work, env: { LC_ALL: 'C', ...program.env } })
    renameSync(work, final)
  } catch (error) {
    rmSync(work, { recursive: true, force: true })
    // Another test process may have been first; its template is as good.
    if (!existsSync(final)) throw error
  }
}
