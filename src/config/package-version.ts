/** The version of this package, from its own files. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param root the folder of `package.json` */
export function versionOf(root: string): string {
  return memberOf(join(root, 'package.json'), 'version') ?? 'unknown'
}

/**
 * The nearest parent folder with a `package.json`. The sources and the compiled files have different depths.
 */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

/** The text of a member of a JSON file; null: the file cannot be read, or has no such text. */
export function memberOf(file: string, name: string): string | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))[name]
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
