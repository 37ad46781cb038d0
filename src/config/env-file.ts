/** `.env` beside the configuration: variables that the environment itself does not set. */

import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Fault, Warning } from './faults.ts'
import { readSource } from './read-file.ts'
import { listFiles, signatureOf } from './watch.ts'

interface EnvFile {
  /** The absolute path, even if there is no file: a new file is a change. */
  readonly path: string
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly faults: readonly Fault[]
  readonly warnings: readonly Warning[]
  /** The state of the file when it was read; '' if there is none. */
  readonly signature: string
}

/** The mode bits that permit group or others to read. */
const READABLE_BY_MORE = 0o044
const UNREADABLE = 'is not readable by this user: no variable is taken from it'
const SHARED = 'group or others may read this file, which is for secrets: run chmod 600 on it'

/** The result for a folder without the file. */
export function noEnvFile(folder: string): EnvFile {
  return { path: join(folder, '.env'), variables: {}, faults: [], warnings: [], signature: '' }
}

/**
 * No message contains a value.
 *
 * @param display returns the path that messages show
 */
export async function readEnvFile(folder: string, display: (path: string) => string): Promise<EnvFile> {
  // Before the file is read, so that a change during the reading is detected.
  const signature = await signatureOf(await listFiles(folder, ['.env']))
  const absent = { ...noEnvFile(folder), signature }
  const { path } = absent
  const state = await stat(path).catch((error: NodeJS.ErrnoException) => error)
  if (state instanceof Error && (state.code === 'ENOENT' || state.code === 'ENOTDIR')) return absent
  const at = (line: number, column: number) => ({ file: display(path), line, column })
  const refused = await access(path, constants.R_OK).catch((error: NodeJS.ErrnoException) => error)
  // A container may get its environment from this file, and contain the file as well, without the right to
  // read it.
  if (refused instanceof Error && (refused.code === 'EACCES' || refused.code === 'EPERM'))
    return { ...absent, warnings: [{ code: 'env_file_unreadable', place: at(1, 1), message: UNREADABLE }] }
  const source = await readSource(path, 'remove it')
  if (!('text' in source)) {
    const { line, column, message } = source
    return { ...absent, faults: [{ place: at(line, column), message }] }
  }
  const shared: Warning = { code: 'env_file_shared', place: at(1, 1), message: SHARED }
  const warnings = isShared(state) ? [shared] : []
  return { ...absent, variables: parseEnv(source.text), warnings }
}

/** Whether group or others may read the file. Windows has no such modes. */
function isShared(state: { readonly mode: number } | Error): boolean {
  return process.platform !== 'win32' && 'mode' in state && (state.mode & READABLE_BY_MORE) !== 0
}
