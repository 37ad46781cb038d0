/** Packages of peers that no clone needs: installed for this bench alone, by a command that says so. */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/staleness-peers', import.meta.url))

/** The packages of a peer, each with its version. */
export type Packages = Readonly<Record<string, string>>

/** The folder of an installed package. */
export function packageFolder(name: string): string {
  return join(FOLDER, 'node_modules', name)
}

/** @returns what to do about packages that are not there; null: they are */
export function missing(packages: Packages): string | null {
  if (Object.keys(packages).every((name) => existsSync(packageFolder(name)))) return null
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`)
  return `not installed: npm install --ignore-scripts --prefix node_modules/.cache/staleness-peers ${wanted.join(' ')}`
}

/** The exports of a CommonJS package. The caller describes those that it uses. */
export function packageExports(name: string): unknown {
  return createRequire(join(FOLDER, 'package.json'))(name)
}
