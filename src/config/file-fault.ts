/** The reasons why a file cannot be read or written, with advice. */

/** Why a file cannot be read: a text that follows the name of the file or of its parameter. */
export function fileFault(cause: unknown): string {
  return `cannot be read: ${reasonOf(cause, 'unreadable', ADVICE)}`
}

/** Why a file cannot be written: a text that follows its name. */
export function writeFault(cause: unknown): string {
  return `cannot be written: ${reasonOf(cause, 'unwritable', WRITE_ADVICE)}`
}

type Advice = Readonly<Record<string, string>>

function reasonOf(cause: unknown, otherwise: string, advice: Advice): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : otherwise
  return advice[code] === undefined ? code : `${code} (${advice[code]})`
}

const WRITE_ADVICE: Advice = {
  ENOENT: 'its folder does not exist: correct the path, or create the folder',
  ENOTDIR: 'a folder of the path is a file: correct the path',
  EISDIR: 'it is a folder: name a file',
  EACCES: 'this user lacks the right: give it the right to write in the folder',
  EROFS: 'its file system is mounted read-only: name another path',
  ENOSPC: 'the disk is full: free some space',
}

const ADVICE: Advice = {
  ENOENT: 'there is no such file: correct the path, or create the file',
  ENOTDIR: 'a folder of the path is a file: correct the path',
  EISDIR: 'it is a folder: name a file',
  EACCES: 'this user lacks the right: give it the right to read the file and to enter its folders',
}
