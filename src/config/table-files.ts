/** Finds the files of route tables. */

import { realpath } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { InvalidValue } from './invalid-value.ts'
import type { Section } from './section.ts'
import { listFiles } from './watch.ts'

/**
 * Finds the files of route tables.
 *
 * @param section has a list `routes` of files and globs. Each must match a file.
 */
export async function findRouteTables(section: Section, folder: string) {
  const matched = new Map<string, readonly string[]>()
  for (const text of section.texts('routes', (each) => each))
    matched.set(text, await listFiles(folder, [text]))
  const matching = section.texts('routes', (text) =>
    matched.get(text)?.length === 0
      ? new InvalidValue('matches no file: correct it, or create the file')
      : text,
  )
  return {
    /** The absolute paths of the files. */
    paths: [...new Set(matching.flatMap((text) => matched.get(text) ?? []))],
    /** Absolute paths and globs to watch. */
    patterns: [...matched].map(([text, paths]) => absolutePattern(folder, text, paths)),
  }
}

/** Replaces glob characters in the folder's own name by `?`, which matches them too. */
function absolutePattern(folder: string, text: string, paths: readonly string[]): string {
  const path = resolve(folder, text)
  if (paths.includes(path) || isAbsolute(text)) return path
  return `${folder.replace(/[*?[\]{}()!+@\\]/g, '?')}/${text}`
}

/** Real path → the first path that leads to it, perhaps by symbolic links. */
export async function uniqueFiles(paths: readonly string[]): Promise<Map<string, string>> {
  const byRealPath = new Map<string, string>()
  for (const path of paths) {
    const real = await realpath(path).catch(() => path)
    if (!byRealPath.has(real)) byRealPath.set(real, path)
  }
  return byRealPath
}
