/** Writes files that are not there yet, and says what a fault leaves behind. */

import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CommandFailed } from './command.ts'
import type { NewFile } from './init-files.ts'

/** @throws CommandFailed that names every file that is there, or those that a fault leaves behind */
export async function writeNew(folder: string, files: readonly NewFile[]): Promise<void> {
  await refusePresent(files.map(({ name }) => join(folder, name)))
  const written: string[] = []
  for (const { name, text, mode } of files) {
    const path = join(folder, name)
    try {
      await makeFolder(dirname(path))
      // Never over a file that has appeared since.
      await writeFile(path, text, { flag: 'wx', mode, flush: true })
      written.push(path)
    } catch (cause) {
      const begun = codeOf(cause) !== 'EEXIST' && (await isPresent(path).catch(() => false))
      const left = begun ? [...written, `${path} (incomplete)`] : written
      throw new CommandFailed(`${path} cannot be written: ${messageOf(cause)}. ${remains(left)}`)
    }
  }
}

/** Below /proc, `recursive` of Node.js 26 tries forever: that file system answers ENOENT to each mkdir. */
async function makeFolder(path: string): Promise<void> {
  if (await isPresent(path)) return
  await makeFolder(dirname(path))
  await mkdir(path).catch((cause: unknown) => {
    if (codeOf(cause) !== 'EEXIST') throw cause
  })
}

async function refusePresent(paths: readonly string[]): Promise<void> {
  const present: string[] = []
  for (const path of paths) if (await isPresent(path)) present.push(path)
  if (present.length === 0) return
  const these = present.length === 1 ? 'this file is' : 'these files are'
  throw new CommandFailed(`nothing is written, because ${these} there already: ${present.join(', ')}`)
}

/** Also true of a symbolic link that leads nowhere. */
async function isPresent(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return false
    throw new CommandFailed(`nothing is written, because ${path} cannot be looked up: ${messageOf(cause)}`)
  }
}

function remains(left: readonly string[]): string {
  return left.length === 0
    ? 'No file was written.'
    : `These files were written; remove them before you try again: ${left.join(', ')}`
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : null
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
