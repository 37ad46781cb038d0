/** `seatgate --version`: the version, the commit it was made of, and the Node.js that runs it. */

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { memberOf, versionOf } from '../config/package-version.ts'

/** @param root the folder of `package.json` */
export function versionLine(root: string): string {
  // In a clone, `dist` may be older than the sources.
  const commit = commitOfClone(root) ?? memberOf(join(root, 'dist', 'build.json'), 'commit')
  return `seatgate ${versionOf(root)} (${commit ?? 'unknown'}, Node.js ${process.versions.node})`
}

/** Null outside of a clone: a package may be installed inside the clone of another project. */
function commitOfClone(root: string): string | null {
  const gitDir = join(root, '.git')
  if (!existsSync(gitDir)) return null
  try {
    // Named, because GIT_DIR of the environment may name another one.
    const args = [`--git-dir=${gitDir}`, 'rev-parse', '--short', 'HEAD']
    return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe', timeout: 5000 }).trim() || null
  } catch {
    return null
  }
}
