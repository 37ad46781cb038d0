/** `seatgate --version`: the version, the commit it was made of, and the Node.js that runs it. */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param root the folder of `package.json` */
export function versionLine(root: string): string {
  // In a clone, `dist` may be older than the sources.
  const commit = commitOfClone(root) ?? memberOf(join(root, 'dist', 'build.json'), 'commit')
  return `seatgate ${versionOf(root)} (${commit ?? 'unknown'}, Node.js ${process.versions.node})`
}

export function versionOf(root: string): string {
  return memberOf(join(root, 'package.json'), 'version') ?? 'unknown'
}

/** The nearest folder above this file that has a `package.json`: sources and compiled files lie at different depths. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
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

/** Null where the file can't be read or has no such text. */
function memberOf(file: string, name: string): string | null {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))[name]
    return typeof found === 'string' ? found : null
  } catch {
    return null
  }
}
