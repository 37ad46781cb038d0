/** Copies of the clone that runs the tests, as it is, without what `npm ci`, the build and the tests make. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { serverFolder } from '../support/servers/folder.ts'

const clone = fileURLToPath(new URL('../..', import.meta.url))

/** What `npm ci`, the tests and `npm pack` make, and the history. */
const NOT_COPIED =
  /^(?:\.git|node_modules|dist|npm-shrinkwrap\.json|sbom\.cdx\.json|THIRD_PARTY_LICENSES|package\.json\.clone|.*\.tgz)$/

export function copyClone(to: string): void {
  for (const name of readdirSync(clone).filter((each) => !NOT_COPIED.test(each)))
    cpSync(join(clone, name), join(to, name), { recursive: true })
}

interface Surroundings {
  /** The path of the copy in a temporary folder. */
  readonly folder: string
  readonly umask: string
  /** The change to the modes of the files in the copy, as chmod takes it. */
  readonly mode: string
  readonly env: Readonly<Record<string, string>>
}

/** The copy has no history, so the build is told its commit, as in the image. */
const COMMIT = { SEATGATE_COMMIT: '0123456789'.repeat(4) }

const USUAL: Surroundings = { folder: 'clone', umask: '022', mode: 'a+r', env: COMMIT }

/** Packs a copy, with the dependencies of the clone. @returns the path of the package */
export function packCopy(t: Test, { folder, umask, mode, env } = USUAL): string {
  const copy = join(serverFolder(t, 'pack'), folder)
  mkdirSync(copy, { recursive: true })
  copyClone(copy)
  execFileSync('chmod', ['-R', mode, copy])
  symlinkSync(join(clone, 'node_modules'), join(copy, 'node_modules'))
  const script = `umask ${umask} && exec npm pack --silent`
  // npm fails with the options that the test runner gives Node.js.
  const own = { ...process.env, ...env, NODE_OPTIONS: '' }
  const options = { cwd: copy, env: own, encoding: 'utf8', stdio: 'pipe' } as const
  return join(copy, execFileSync('sh', ['-c', script], options).trim())
}
