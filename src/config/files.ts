/** Which files a configuration is made of, and how to tell that one changed. */

import { glob, stat } from 'node:fs/promises'
import { resolve } from 'node:path'

/**
 * Absolute paths, sorted, each once: a name that is a file stands for itself, anything else is a glob.
 * What matches nothing gives nothing. Folders and broken links are among them: reading them is a fault, as a container
 * runtime makes a folder where the file that it is to mount is missing.
 */
export async function listFiles(folder: string, patterns: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const pattern of patterns) {
    const path = resolve(folder, pattern)
    const matches = (await isThere(path)) ? [path] : await expand(pattern, folder)
    for (const match of matches) found.add(resolve(folder, match))
  }
  return [...found].sort()
}

/** A pattern that no glob can be made of matches nothing. */
async function expand(pattern: string, cwd: string): Promise<string[]> {
  return Array.fromAsync(glob(pattern, { cwd })).catch(() => [])
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}

/** A line a file, sorted. Another one when any is written, replaced, linked elsewhere, added or gone. */
export async function signatureOf(paths: readonly string[]): Promise<string> {
  const lines = await Promise.all(paths.map(lineOf))
  return lines.sort().join('\n')
}

async function lineOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null)
  if (found === null) return `${path}\tgone`
  const { dev, ino, size, mtimeNs, ctimeNs } = found
  return `${path}\t${dev}\t${ino}\t${size}\t${mtimeNs}\t${ctimeNs}`
}

/** Of the files of both, taken at different times. */
export function joinSignatures(one: string, two: string): string {
  const lines = new Set([...one.split('\n'), ...two.split('\n')])
  lines.delete('')
  return [...lines].sort().join('\n')
}
