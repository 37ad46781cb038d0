/** The modes of the files in the package. npm takes them from the disk, where they depend on the umask of who cloned. */

import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What npm packs without being told to. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE']

/** Everyone may read the files that the package has. npm itself makes its commands executable. */
export function setModes(root: string): void {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] }
  for (const each of [...ALWAYS, ...files]) for (const file of filesBelow(join(root, each))) setMode(file)
}

function filesBelow(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return []
  if (stats.isFile()) return [path]
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** A file of another user, which cannot be changed, is left alone if it is right. */
function setMode(file: string): void {
  const now = statSync(file).mode & 0o777
  const wanted = (now & 0o100) === 0 ? 0o644 : 0o755
  if (now !== wanted) chmodSync(file, wanted)
}
