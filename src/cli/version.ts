/** `seatgate --version`: the version, the commit of the build, and the Node.js that runs it. */

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { memberOf, versionOf } from '../config/package-version.ts'

/** The line with the version. @param root the folder of `package.json` */
export function versionLine(root: string): string {
  // In a clone, `dist` may be older than the sources.
  const commit = commitOfClone(root) ?? memberOf(join(root, 'dist', 'build.json'), 'commit') ?? 'unknown'
  const short = commit.replace(/^([0-9a-f]{12})[0-9a-f]+/, '$1')
  return `seatgate ${versionOf(root)} (${short}, Node.js ${process.versions.node})`
}

/** The commit of a clone; null for a package, which may be installed inside the clone of another project. */
function commitOfClone(root: string): string | null {
  const gitDir = join(root, '.git')
  if (!existsSync(gitDir)) return null
  try {
    // The folder is named: GIT_DIR of the environment may name another one.
    const args = [`--git-dir=${gitDir}`, 'rev-parse', '--short', 'HEAD']
    return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe', timeout: 5000 }).trim() || null
  } catch {
    return null
  }
}
