/** The folder of things that are made once on a machine, and not for each test. */

import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OTHERS_MAY_ENTER = 0o001

const inProject = fileURLToPath(new URL('../../../node_modules/.cache/seatgate-servers', import.meta.url))

/**
 * The folder is in the project, and is removed with it, unless the user `nobody` may not enter the project of
 * root.
 */
export function cacheFolder(): string {
  const uid = process.getuid?.() ?? 0
  mkdirSync(inProject, { recursive: true, mode: 0o755 })
  if (uid !== 0 || isOpen(inProject)) return inProject
  const folder = join(tmpdir(), `seatgate-servers-${uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  // Another user may have made a folder of that name.
  if (lstatSync(folder).uid !== uid) throw new Error(`${folder} belongs to another user`)
  return folder
}

function isOpen(folder: string): boolean {
  if ((statSync(folder).mode & OTHERS_MAY_ENTER) === 0) return false
  return dirname(folder) === folder || isOpen(dirname(folder))
}
