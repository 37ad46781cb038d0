/**
 * The files that values name, as `${file:PATH}`. Each is read once for one loading of the configuration, so
 * that all values that name it have the same text.
 */

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileFault } from './file-fault.ts'
import { type InvalidValue, Undetermined } from './invalid-value.ts'
import { signatureLine } from './watch.ts'

/** The maximum size of a file, in bytes. */
const MAX_VALUE = 64 * 1024

export class ValueFiles {
  readonly #folder: string
  readonly #texts = new Map<string, string | InvalidValue>()
  readonly #lines = new Map<string, string>()

  /** @param folder the base of relative paths */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** The absolute paths of the files that were read, and of those that could not be. */
  get paths(): readonly string[] {
    return [...this.#texts.keys()]
  }

  /** The signature of these files, each from before its reading. */
  get signature(): string {
    return [...this.#lines.values()].sort().join('\n')
  }

  /** The text of a file, without one line end at its end. No message contains the content of the file. */
  read(path: string): string | InvalidValue {
    const absolute = resolve(this.#folder, path)
    const earlier = this.#texts.get(absolute)
    if (earlier !== undefined) return earlier
    this.#lines.set(absolute, lineOf(absolute))
    const text = readValue(absolute)
    this.#texts.set(absolute, text)
    return text
  }
}

function lineOf(path: string): string {
  try {
    return signatureLine(path, statSync(path, { bigint: true }))
  } catch {
    return signatureLine(path, null)
  }
}

function readValue(path: string): string | InvalidValue {
  const unusable = (why: string) => new Undetermined(`names the file ${path}, which ${why}`)
  try {
    // The writer of a FIFO is not waited for.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      if (!fstatSync(file).isFile()) return unusable('is not a regular file: name a file')
      const bytes = contentOf(file)
      if (bytes.length > MAX_VALUE)
        return unusable(`is larger than ${MAX_VALUE / 1024} KiB: name a file with the value alone`)
      if (!isUtf8(bytes)) return unusable('is not valid UTF-8: save it as UTF-8, or in base64url')
      return bytes.toString().replace(/\r?\n$/, '')
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    return unusable(fileFault(cause))
  }
}

/** The content, up to one byte more than the limit. */
function contentOf(file: number): Buffer {
  const bytes = Buffer.alloc(MAX_VALUE + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = readSync(file, bytes, length, bytes.length - length, null)
  return bytes.subarray(0, length)
}
