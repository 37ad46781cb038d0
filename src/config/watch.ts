/** Expands file patterns, and detects changes of the configuration's files. */

import type { BigIntStats } from 'node:fs'
import { glob, stat } from 'node:fs/promises'
import { resolve } from 'node:path'

/**
 * @returns absolute paths, sorted, without duplicates. A pattern that names an existing file stands for that
 *   file; any other pattern is a glob. Folders and broken links are included, so that reading them is a
 *   fault: a container runtime creates a folder if the file to mount is missing.
 */
export async function listFiles(folder: string, patterns: readonly string[]): Promise<string[]> {
  const paths = new Set<string>()
  for (const pattern of patterns) {
    const path = resolve(folder, pattern)
    const exists = (await stat(path).catch(() => null)) !== null
    // An invalid pattern matches no file.
    const matches = exists ? [path] : await Array.fromAsync(glob(pattern, { cwd: folder })).catch(() => [])
    for (const match of matches) paths.add(resolve(folder, match))
  }
  return [...paths].sort()
}

/**
 * One line for each file, sorted. The signature changes if a file is written, replaced, relinked, added or
 * removed.
 */
export async function signatureOf(paths: readonly string[]): Promise<string> {
  const lines = await Promise.all(paths.map(lineOf))
  return lines.sort().join('\n')
}

async function lineOf(path: string): Promise<string> {
  return signatureLine(path, await stat(path, { bigint: true }).catch(() => null))
}

const GONE = 'gone'

/** The line of a file in a signature. @param state null: there is no such file */
export function signatureLine(path: string, state: BigIntStats | null): string {
  // The name may contain a tab or a line break.
  const name = JSON.stringify(path)
  if (state === null) return `${name}\t${GONE}`
  const { dev, ino, size, mtimeNs, ctimeNs } = state
  return `${name}\t${dev}\t${ino}\t${size}\t${mtimeNs}\t${ctimeNs}`
}

/** Whether the files of a signature have not changed. */
export async function isCurrent(signature: string): Promise<boolean> {
  const lines = signature.split('\n').filter((line) => line !== '')
  const paths = lines.map((line) => JSON.parse(line.slice(0, line.indexOf('\t'))))
  return (await signatureOf(paths)) === signature
}

/** The signature of the files that exist now. @param files absolute paths and globs */
export async function signatureNow(files: readonly string[]): Promise<string> {
  return signatureOf(await listFiles('/', files))
}

/** A signature without the files that did not exist, as {@link signatureNow} makes it. */
export function existingIn(signature: string): string {
  return signature
    .split('\n')
    .filter((line) => !line.endsWith(`\t${GONE}`))
    .join('\n')
}

/** The signature of the files of both. */
export function joinSignatures(a: string, b: string): string {
  const lines = new Set([...a.split('\n'), ...b.split('\n')])
  lines.delete('')
  return [...lines].sort().join('\n')
}

/** The poll interval in ms. */
const POLL = 1000
/** The poll interval in ms after a change, because another file of the same change may follow. */
export const SETTLE = 100

/**
 * Polls, because file notifications miss renames and symbolic links: Kubernetes updates a mounted ConfigMap
 * by replacing a link. A change is reported if two successive polls have the same result, so that a
 * half-written set of files is not loaded.
 *
 * @param files absolute paths and globs: `files` of the last load, also of a failed one
 * @param since the `signature` of the running configuration, so that changes since its reading are reported
 */
export function watchConfig(
  files: () => readonly string[],
  onChange: () => void,
  since: string | null = null,
): { close(): void } {
  let current = since
  let pending: string | null = null
  let closed = false
  let timer: NodeJS.Timeout

  const poll = async () => {
    const now = await signatureNow(files())
    if (closed) return
    current ??= now
    if (now === current) pending = null
    else if (now !== pending) pending = now
    else {
      current = now
      pending = null
      onChange()
    }
    schedule(pending === null ? POLL : SETTLE)
  }
  const schedule = (delay: number) => {
    timer = setTimeout(() => poll().catch(() => schedule(POLL)), delay).unref()
  }
  schedule(0)
  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
