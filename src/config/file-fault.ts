/** Why a file that a setting names can't be read, and what to do. */

/** @returns text that follows the name of the file or of its parameter */
export function fileFault(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
  const advice = ADVICE[code]
  return `cannot be read: ${code}${advice === undefined ? '' : ` (${advice})`}`
}

/** Why a file can't be written. @returns text that follows its name */
export function writeFault(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unwritable'
  const advice = WRITE_ADVICE[code]
  return `cannot be written: ${code}${advice === undefined ? '' : ` (${advice})`}`
}

const WRITE_ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist: correct the path, or create the folder',
  ENOTDIR: 'a folder of the path is a file: correct the path',
  EISDIR: 'it is a folder: name a file',
  EACCES: 'this user lacks the right: give it the right to write in the folder',
  EROFS: 'its file system is mounted read-only: name another path',
  ENOSPC: 'the disk is full: free some space',
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file: correct the path, or create the file',
  ENOTDIR: 'a folder of the path is a file: correct the path',
  EISDIR: 'it is a folder: name a file',
  EACCES: 'this user lacks the right: give it the right to read the file and to enter its folders',
}
