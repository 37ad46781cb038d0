/** Where things are kept that are made once a machine and not once a test. */

import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OTHERS_MAY_ENTER = 0o001

const inProject = fileURLToPath(new URL('../../../node_modules/.cache/seatgate-servers', import.meta.url))

/** In the project, so that it goes with it; except for root in a home of its own, where `nobody` may not enter. */
export function cacheFolder(): string {
  const uid = process.getuid?.() ?? 0
  mkdirSync(inProject, { recursive: true, mode: 0o755 })
  if (uid !== 0 || isOpen(inProject)) return inProject
  const folder = join(tmpdir(), `seatgate-servers-${uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  // Anybody may make a folder of that name first.
  if (lstatSync(folder).uid !== uid) throw new Error(`${folder} belongs to somebody else`)
  return folder
}

function isOpen(folder: string): boolean {
  if ((statSync(folder).mode & OTHERS_MAY_ENTER) === 0) return false
  return dirname(folder) === folder || isOpen(dirname(folder))
}
