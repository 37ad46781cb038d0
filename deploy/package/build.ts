/** `npm run build`: compiles the program into `dist/`, as the package has it. `npm pack` calls it. */

import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { PACKAGES } from '../../src/pipeline/console-site.ts'
import { bundlePrograms, withBundledImports } from './bundled.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = join(root, 'dist')

process.umask(0o022)
rmSync(dist, { recursive: true, force: true })
execFileSync('tsc', ['-p', join(root, 'deploy/package/tsconfig.json')], { stdio: 'inherit' })
// A third of the compiled code is indentation. Lines stay short, so that a stack leads to a place.
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((each) =>
  each.endsWith('.js'),
)) {
  const file = join(dist, name)
  const { code } = transformSync(readFileSync(file, 'utf8'), { minifyWhitespace: true, lineLimit: 120 })
  // A file of types alone has no code, and no file imports it.
  if (/^export\s*\{\s*\};?\s*$/.test(code)) rmSync(file)
  else writeFileSync(file, withBundledImports(code, name))
}
bundlePrograms(root, dist)
// Editors read the schemas; no program imports them.
for (const name of readdirSync(join(root, 'src/config')).filter((each) => each.endsWith('.schema.json')))
  copyFileSync(join(root, 'src/config', name), join(dist, 'src/config', name))
// The console is served as it is written.
const SERVED = new Set(['', '.js', '.css', '.html', '.svg'])
cpSync(join(root, 'seats-admin/console'), join(dist, 'seats-admin/console'), {
  recursive: true,
  filter: (path) => SERVED.has(extname(path)),
})
// Of the packages that its pages import, one file each is needed: installed whole, they are 60 times as large.
for (const [name, file] of Object.entries(PACKAGES)) {
  const target = join(dist, 'seats-admin/console', file)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(fileURLToPath(import.meta.resolve(name)), target)
}
writeFileSync(join(dist, 'build.json'), `${JSON.stringify({ commit: commit() })}\n`)

/**
 * The hash of the sources; with a `+` where they differ from the commit. Its length does not depend on how many objects the
 * clone has. An image is built without history.
 */
function commit(): string {
  const { SEATGATE_COMMIT } = process.env
  if (SEATGATE_COMMIT !== undefined) return SEATGATE_COMMIT
  try {
    return git('describe', '--always', '--exclude=*', '--abbrev=40', '--dirty=+')
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
