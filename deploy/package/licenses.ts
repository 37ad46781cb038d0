/** `THIRD_PARTY_LICENSES`: whose code an installation has, and on what terms. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LockFile } from './lock-file.ts'
import { nameOf } from './lock-file.ts'

/** By SPDX: licences that ask for no more than that their text comes with the code. */
export const ALLOWED: ReadonlySet<string> = new Set([
  ...[
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'CC0-1.0',
    'ISC',
    'MIT',
    'MIT-0',
  ],
  ...['Python-2.0', 'Unicode-3.0', 'Unlicense', 'Zlib'],
])

/** Whether the terms are allowed: an identifier of the list, or a choice that has one. */
export function isAllowed(license: string): boolean {
  const choices = license.replace(/^\((.*)\)$/, '$1').split(' OR ')
  return choices.some((choice) => ALLOWED.has(choice))
}

/**
 * The names and licences of all packages with their texts.
 *
 * @param paths of the packages, below `root`
 * @throws if a licence is not allowed, or a package is not installed: it is named
 */
export function thirdPartyLicenses(lock: LockFile, paths: readonly string[], root: string): string {
  const refused = paths.filter((path) => !isAllowed(lock.packages[path]?.license ?? ''))
  if (refused.length > 0)
    throw new Error(`licences that are not allowed: ${refused.map((path) => titleOf(lock, path)).join(', ')}`)
  const sorted = [...paths].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const texts = sorted.map((path) => `${titleOf(lock, path)}\n\n${textOf(join(root, path))}`)
  return [INTRODUCTION, ...texts].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n'
}

const INTRODUCTION = 'Seatgate is installed with the packages below, or has files of them inside.'

function titleOf({ packages }: LockFile, path: string): string {
  return `${nameOf(path)} ${packages[path]?.version} (${packages[path]?.license ?? 'no licence'})`
}

/** The files with the licence and with the notices that Apache-2.0 asks to pass on (section 4d). */
function textOf(folder: string): string {
  if (!existsSync(folder)) throw new Error(`${folder} is missing: run npm ci`)
  const names = readdirSync(folder).filter((name) => /^(?:licen[cs]e|copying|notice)\b/i.test(name))
  const texts = names.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim())
  return texts.length > 0 ? texts.join('\n\n') : fromReadme(folder)
}

/** Some packages have the text in their README alone. */
function fromReadme(folder: string): string {
  const readme = readdirSync(folder).find((name) => /^readme\b/i.test(name))
  const text = readme === undefined ? '' : readFileSync(join(folder, readme), 'utf8')
  const section = /^#+ licen[cs]e\n([^]*)/im.exec(text)?.[1] ?? /^Copyright \(c\)[^]*/im.exec(text)?.[0]
  if (section === undefined) throw new Error(`${folder} has no text of its licence`)
  return section.trim()
}
