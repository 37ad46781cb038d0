/**
 * What the gateway on a store in a file shows of itself to other programs, in a file beside it: such a store
 * has no list.
 */

import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import type { ShownGateway } from '../../model/registered-instance.ts'
import { FILE_MODE } from './file.ts'

function fileOf(path: string): string {
  return `${path}.gateway`
}

/** Called by the holder of the store's lock. A full disk is not an error: less is shown then. */
export async function showGateway(path: string, shown: ShownGateway): Promise<void> {
  const draft = `${fileOf(path)}.new`
  try {
    await rm(draft, { force: true })
    // Never through a link, nor into a file of another user: the folder may be one that others write to.
    await writeFile(draft, JSON.stringify(shown), { mode: FILE_MODE, flag: 'wx' })
    await rename(draft, fileOf(path))
  } catch {
    await hideGateway(path)
  }
}

/** What is shown is out of date. */
export async function hideGateway(path: string): Promise<void> {
  for (const file of [fileOf(path), `${fileOf(path)}.new`]) await rm(file, { force: true }).catch(() => {})
}

/**
 * Only true while the lock of the store is held.
 *
 * @returns null where nothing is shown, as by an older version
 */
export async function shownGateway(path: string): Promise<ShownGateway | null> {
  try {
    const content: Partial<ShownGateway> = JSON.parse(await readFile(fileOf(path), 'utf8'))
    const {
      id,
      name,
      startedAt,
      version,
      config = null,
      url = null,
      refused = null,
      tables = null,
      secrets = null,
    } = content
    if (
      typeof id !== 'string' ||
      typeof name !== 'string' ||
      typeof version !== 'string' ||
      typeof startedAt !== 'number' ||
      // No date is that far away.
      Number.isNaN(new Date(startedAt).getTime())
    )
      return null
    return { id, name, version, startedAt, config, url, refused, tables, secrets }
  } catch {
    return null
  }
}
