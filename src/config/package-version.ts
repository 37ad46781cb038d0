/** The version of this package, from its own files. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param root the folder of `package.json` */
export function versionOf(root: string): string {
  return memberOf(join(root, 'package.json'), 'version') ?? 'unknown'
}

/** The nearest folder above this file that has a `package.json`: sources and compiled files lie at different depths. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

/** Null where the file can't be read or has no such text. */
export function memberOf(file: string, name: string): string | null {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))[name]
    return typeof found === 'string' ? found : null
  } catch {
    return null
  }
}
