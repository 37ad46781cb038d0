/** What the figures were measured on. */

import { execFileSync } from 'node:child_process'
import { availableParallelism, loadavg } from 'node:os'
import { findProgram, type Program } from '../../test/support/servers/binaries.ts'
import { findPostgres } from '../../test/support/servers/postgres-template.ts'

/** The load averages of the machine: 1, 5 and 15 minutes. */
export function load(): string {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')
}

/** The versions of the programs, and the number of cores. */
export async function machine(): Promise<string> {
  const postgres = versionOf((await findPostgres()).program)
  const redis = versionOf(await findProgram('redis-server'))
  const versions = [`Node.js ${process.versions.node}`, `PostgreSQL ${postgres}`, `Redis ${redis}`]
  return `${versions.join(', ')}, ${availableParallelism()} cores`
}

function versionOf({ path, env }: Program): string {
  const text = execFileSync(path, ['--version'], { env: { ...process.env, ...env }, encoding: 'utf8' })
  return /\d+(?:\.\d+)+/.exec(text)?.[0] ?? text.trim()
}
