/** `npm run build`: compiles the program into `dist/`, as the package has it. `npm pack` calls it. */

import { execFileSync } from 'node:child_process'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
execFileSync('tsc', ['-p', join(root, 'deploy/package/tsconfig.json')], { stdio: 'inherit' })
// The console is served as it is written.
const SERVED = new Set(['', '.js', '.css', '.html', '.svg'])
cpSync(join(root, 'seats-admin/console'), join(dist, 'seats-admin/console'), {
  recursive: true,
  filter: (path) => SERVED.has(extname(path)),
})
writeFileSync(join(dist, 'build.json'), `${JSON.stringify({ commit: commit() })}\n`)

/** The short hash of the sources; with a `+` where they differ from the commit. An image is built without history. */
function commit(): string {
  const { SEATGATE_COMMIT } = process.env
  if (SEATGATE_COMMIT !== undefined) return SEATGATE_COMMIT
  try {
    return git('describe', '--always', '--exclude=*', '--dirty=+')
  } catch {
    // An archive of the sources has no history.
    return 'unknown'
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}
