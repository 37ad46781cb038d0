/** A folder with route tables: what is pushed, and where a version is written. */

import { mkdirSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isTableFileName, type TableFiles } from '../../../seats-admin/model/tables-version.ts'
import { quote } from '../../config/invalid-value.ts'
import { printable } from '../../telemetry/readable.ts'
import { CommandFailed, messageOf } from '../command.ts'

/** Bytes of a request with the files. */
const MAX_BYTES = 8 * 1024 * 1024
/** Bytes of one file in it. */
const MAX_FILE_BYTES = 1024 * 1024
const IS_YAML = /\.ya?ml$/i

/**
 * Reads the `.yaml` and `.yml` files of a folder. Files whose name begins with a dot, which editors write, and
 * other files are left out.
 *
 * @throws CommandFailed if there is none: a push of no files would close every route
 */
export function readTablesFolder(folder: string): TableFiles {
  const names = yamlNames(folder)
  if (names.length === 0)
    throw new CommandFailed(`${folder} has no .yaml or .yml file: name the folder of the route tables`)
  const files = Object.fromEntries(names.map((name) => [name, textOf(folder, name)]))
  for (const [name, text] of Object.entries(files))
    if (bytesOf({ [name]: text }) > MAX_FILE_BYTES)
      throw new CommandFailed(`${join(folder, name)} is too large: 1 MiB at most, as JSON. Divide it.`)
  if (bytesOf({ files }) > MAX_BYTES)
    throw new CommandFailed(`the files in ${folder} are too large: 8 MiB together at most, as JSON`)
  return files
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function yamlNames(folder: string): string[] {
  const names = entriesOf(folder).filter((name) => IS_YAML.test(name) && !name.startsWith('.'))
  for (const name of names)
    if (!isTableFileName(name))
      throw new CommandFailed(
        `${join(folder, printable(name))} has a name that a version cannot have: letters, digits, ., _ and -, with .yaml or .yml at its end`,
      )
  return names.toSorted()
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    throw new CommandFailed(`${folder} cannot be read as a folder: ${messageOf(cause)}`)
  }
}

function textOf(folder: string, name: string): string {
  const path = join(folder, name)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (cause) {
    throw new CommandFailed(`${path} cannot be read: ${messageOf(cause)}`)
  }
}

/** What writing a version into a folder would do, by the names of files. */
export interface FolderChanges {
  readonly added: readonly string[]
  /** Files with another text, which may be a change that was not pushed. */
  readonly replaced: readonly string[]
  /** Files that the version does not have. */
  readonly removed: readonly string[]
  readonly unchanged: readonly string[]
}

/** @throws CommandFailed if the gateway names a file outside the folder, or if the folder has something else there */
export function folderChanges(folder: string, files: TableFiles): FolderChanges {
  const names = Object.keys(files)
  for (const name of names)
    if (!isTableFileName(name))
      throw new CommandFailed(
        `the version has a file with the name ${printable(quote(name))}, which is not written`,
      )
  const present = lstatSync(folder, { throwIfNoEntry: false }) === undefined ? [] : yamlNames(folder)
  const isSame = (name: string) => textOf(folder, name) === files[name]
  const [both, added] = partition(names, (name) => present.includes(name))
  for (const name of names) refuseOtherThanFile(join(folder, name))
  const [unchanged, replaced] = partition(both, isSame)
  return { added, replaced, unchanged, removed: present.filter((name) => !Object.hasOwn(files, name)) }
}

/** A link could lead out of the folder. */
function refuseOtherThanFile(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats !== undefined && !stats.isFile())
    throw new CommandFailed(`nothing was written: ${path} is not a regular file`)
}

function partition(names: readonly string[], test: (name: string) => boolean): [string[], string[]] {
  return [names.filter(test), names.filter((name) => !test(name))]
}

/** Writes a version into a folder, which is created if it is missing. Each file is replaced as a whole. */
export function writeFolder(
  folder: string,
  files: TableFiles,
  { added, replaced, removed }: FolderChanges,
): void {
  try {
    mkdirSync(folder, { recursive: true })
    for (const name of [...added, ...replaced]) replaceFile(folder, name, files[name] ?? '')
    for (const name of removed) rmSync(join(folder, name))
  } catch (cause) {
    throw new CommandFailed(`${folder} is not complete: ${messageOf(cause)}. Run it again with --force`)
  }
}

function replaceFile(folder: string, name: string, text: string): void {
  const beside = join(folder, `.${name}.new`)
  writeFileSync(beside, text, { flag: 'wx' })
  try {
    renameSync(beside, join(folder, name))
  } catch (cause) {
    rmSync(beside, { force: true })
    throw cause
  }
}
