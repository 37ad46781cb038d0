/** What the image has inside, compared with the lock file. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf, readLockFile, runtimePackages } from '../../deploy/package/lock-file.ts'
import { installedPackages } from '../package/installed-packages.ts'

const WANTED = ['app/LICENSE', 'app/THIRD_PARTY_LICENSES', 'app/sbom.cdx.json']
/** Programs and sources that the image must not have. */
const UNWANTED = ['app/src/cli/main.ts', 'bin/sh', 'usr/bin/sh', 'usr/bin/npm', 'usr/local/bin/npm']

/**
 * @param root the mounted image
 * @param context the folder that it was built from
 * @returns the sizes of its parts
 * @throws an `AssertionError` if it has other packages than the lock file, or programs that it must not have
 */
export function checkContents(root: string, context: string, commit: string): string {
  const has = (path: string) => existsSync(join(root, path))
  assert.deepEqual([...WANTED, ...UNWANTED].filter(has), WANTED)
  const { commit: built } = JSON.parse(readFileSync(join(root, 'app/dist/build.json'), 'utf8'))
  assert.equal(built, commit)
  const locked = [...runtimePackages(readLockFile(context))]
  const expected = new Set(locked.map(([path, { version }]) => `${nameOf(path)}@${version}`))
  assert.deepEqual(installedPackages(join(root, 'app/node_modules')), [...expected].sort())
  const parts = Object.entries(PARTS).map(([name, folders]) => `${name} ${mebibytes(root, folders)} MiB`)
  return `${parts.join(', ')}; ${expected.size} packages`
}

/** The folders of each part; distributions differ in whether `lib` is one of `usr`. */
const PARTS = {
  'Node.js': ['nodejs'],
  Seatgate: ['app/dist'],
  dependencies: ['app/node_modules'],
  system: ['usr', 'lib', 'etc'],
}

function mebibytes(root: string, folders: readonly string[]): number {
  const kept = folders.filter((each) => existsSync(join(root, each)))
  const text = execFileSync('du', ['-s', '--apparent-size', '-k', '-c', ...kept], {
    cwd: root,
    encoding: 'utf8',
  })
  return Math.round(Number(/(\d+)\s+total/.exec(text)?.[1]) / 1024)
}
