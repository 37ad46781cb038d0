/** Opens the store for commands that only read it. */

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '../../seats-admin/index.ts'
import type { Config, StoreConfig } from '../config/config.ts'
import { explainStore } from '../runtime/surroundings/store-fault.ts'
import { CommandFailed } from './command.ts'

/**
 * Opens a store that exists: creating an empty one would give wrong output.
 *
 * @throws CommandFailed when there is none
 */
export async function openExistingStore(config: Config): Promise<Store> {
  if (await isMissing(config.store))
    throw new CommandFailed(
      `there is no store at ${placeOf(config.store)}: run seatgate bootstrap or start first`,
    )
  return explainStore(config, () => openStore(config.store))
}

/**
 * Where there is no store yet, an empty one, as the first start creates it, and a note that says so. For a command whose
 * output is correct for an empty store.
 */
export async function openStoreOrEmpty(settings: Config) {
  const { store: config } = settings
  if (!(await isMissing(config))) {
    const store = await explainStore(settings, () => openStore(config))
    return { store, note: null, close: () => store.close() }
  }
  const folder = await mkdtemp(join(tmpdir(), 'seatgate-')).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandFailed(
      `there is no store at ${placeOf(config)} yet, and no folder for an empty one can be created: ${cause.message}`,
    )
  })
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const store = await openStore({ kind: 'sqlite', path: join(folder, 'empty.db') })
    const note = `there is no store at ${placeOf(config)} yet: no Seat or API key exists`
    return { store, note, close: () => store.close().finally(remove) }
  } catch (cause) {
    await remove()
    throw cause
  }
}

async function isMissing(store: StoreConfig): Promise<boolean> {
  if (store.kind !== 'sqlite') return false
  const found = await stat(store.path).catch((error: NodeJS.ErrnoException) => {
    // The opening reports other errors, such as a folder that this user may not enter.
    return error.code === 'ENOENT' || error.code === 'ENOTDIR' ? null : undefined
  })
  return found === null
}

function placeOf(store: StoreConfig): string {
  return store.kind === 'sqlite' ? store.path : store.kind
}
