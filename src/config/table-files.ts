/** Finds the files of route tables that a list of the main file names. */

import { realpath } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { InvalidValue } from './invalid-value.ts'
import type { Section } from './section.ts'
import { listFiles } from './watch.ts'

export interface TableFiles {
  /** Absolute. */
  readonly paths: readonly string[]
  /** Absolute paths and globs to watch. */
  readonly patterns: readonly string[]
}

/** @param section with a list `routes` of files and globs, each of which must match a file */
export async function findRouteTables(section: Section, folder: string): Promise<TableFiles> {
  const matched = new Map<string, readonly string[]>()
  for (const text of section.texts('routes', (each) => each))
    matched.set(text, await listFiles(folder, [text]))
  const matching = section.texts('routes', (text) =>
    matched.get(text)?.length === 0
      ? new InvalidValue('matches no file: correct it, or create the file')
      : text,
  )
  return {
    paths: [...new Set(matching.flatMap((text) => matched.get(text) ?? []))],
    patterns: [...matched].map(([text, paths]) => absolutePattern(folder, text, paths)),
  }
}

/** Replaces glob characters in the folder's own name by `?`, which matches them too. */
function absolutePattern(folder: string, text: string, paths: readonly string[]): string {
  const path = resolve(folder, text)
  if (paths.includes(path) || isAbsolute(text)) return path
  return `${folder.replace(/[*?[\]{}()!+@\\]/g, '?')}/${text}`
}

/** Real path → the first of the paths that lead to it by symbolic links. */
export async function uniqueFiles(paths: readonly string[]): Promise<Map<string, string>> {
  const byRealPath = new Map<string, string>()
  for (const path of paths) {
    const real = await realpath(path).catch(() => path)
    if (!byRealPath.has(real)) byRealPath.set(real, path)
  }
  return byRealPath
}
