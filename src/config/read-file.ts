/**
 * Reads one file of the configuration as UTF-8 text, or returns its fault. The reading never waits for the
 * writer of a FIFO, and is limited to MAX_FILE.
 */

import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** The maximum size of one file, in bytes. */
export const MAX_FILE = 16 * 1024 * 1024

/** The text, or a fault. `line` and `column` begin at 1; both are 1 if the file cannot be opened. */
export type Source =
  | { readonly text: string }
  | { readonly line: number; readonly column: number; readonly message: string }

/**
 * @param advice what to do about an invisible character
 * @param missing what to do if there is no file
 */
export async function readSource(path: string, advice = IN_YAML, missing = MISSING): Promise<Source> {
  const bytes = await readBytes(path, missing)
  return typeof bytes === 'string' ? { line: 1, column: 1, message: bytes } : decode(bytes, advice)
}

/** The same as `readSource` for bytes from standard input. */
export function sourceOf(bytes: Buffer): Source {
  return bytes.length > MAX_FILE ? { line: 1, column: 1, message: TOO_LARGE } : decode(bytes, IN_YAML)
}

/** @returns the content, or the fault's message */
async function readBytes(path: string, missing: string): Promise<Buffer | string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = await file.stat()
    if (stat.isDirectory()) return 'is a folder, not a file: name a file'
    if (!stat.isFile()) return 'is not a regular file: name a file'
    if (stat.size > MAX_FILE) return TOO_LARGE
    // One byte more than the size, to detect a file that grows during the reading.
    const bytes = Buffer.alloc(stat.size + 1)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    return bytesRead === stat.size ? bytes.subarray(0, bytesRead) : 'changed while it was read: try again'
  } catch (error) {
    return reason(error, missing)
  }
}

const TOO_LARGE = `is larger than ${MAX_FILE / 1024 / 1024} MiB: make it smaller, or split it into several files`

const MISSING = 'correct the path, or create the file'
export const NO_CONFIGURATION = 'correct the path of the configuration, or make one by seatgate init'

function reason(error: unknown, missing: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'ENOENT' || code === 'ENOTDIR') return `no such file: ${missing}`
  if (code === 'EACCES' || code === 'EPERM')
    return 'is not readable by this user: give it the right to read the file'
  if (code === 'ELOOP') return 'is a symbolic link that points to itself: correct the link'
  return `cannot be read (${typeof code === 'string' ? code : String(error)})`
}

/**
 * Characters that editors hide or show differently from what a parser reads: control characters, line breaks
 * that YAML and editors treat differently (a CR alone, NEL, U+2028, U+2029), and bidirectional controls. With
 * them, a reviewer could see another permission than the gateway reads.
 */
export const UNREADABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/
const HIDDEN = new RegExp(`${UNREADABLE.source}|\\r(?!\\n)`)

const IN_YAML = 'remove it, or write it as an escape in double quotes'
/** UTF-16 without a byte order mark has a NUL in each character. */
const NUL_ADVICE = 'save the file as UTF-8, or remove the character'

function decode(bytes: Buffer, advice: string): Source {
  if (!isUtf8(bytes)) {
    // Decoding replaces invalid bytes: the first byte that differs after encoding is the invalid one.
    const encoded = Buffer.from(bytes.toString())
    const invalid = bytes.findIndex((byte, at) => byte !== encoded[at])
    const before = new TextDecoder().decode(bytes.subarray(0, invalid), { stream: true })
    return { ...lineAndColumn(before), message: 'is not valid UTF-8 here: save the file as UTF-8' }
  }
  const text = new TextDecoder().decode(bytes)
  const hidden = HIDDEN.exec(text)
  if (hidden === null) return { text }
  const name = `U+${hidden[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
  const message =
    hidden[0] === '\r'
      ? 'has a CR without an LF here: end lines with LF'
      : `has an invisible character here (${name}): ${hidden[0] === '\0' ? NUL_ADVICE : advice}`
  return { ...lineAndColumn(text.slice(0, hidden.index)), message }
}

/** The position after the last character of `text`, counted from 1. */
function lineAndColumn(text: string): { line: number; column: number } {
  const start = text.lastIndexOf('\n') + 1
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) line++
  return { line, column: text.length - start + 1 }
}
