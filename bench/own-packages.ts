/** The packages of `bench/package.json`: peers that a clone does not need. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of a package, installed or not. */
export function packageFolder(name: string): string {
  return join(import.meta.dirname, 'node_modules', name)
}

/** Returns how to install them if one is missing, and null otherwise. */
export function missing(...names: readonly string[]): string | null {
  const areInstalled = names.every((name) => existsSync(packageFolder(name)))
  return areInstalled ? null : 'not installed: npm ci --prefix bench'
}
