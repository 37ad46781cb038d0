/** The store, for commands that only look at it. */

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '../../seats-admin/index.ts'
import type { Config, StoreConfig } from '../config/config.ts'
import { CommandFailed } from './command.ts'

/**
 * A store that is there, for commands that only read it: an empty file made in passing would answer wrongly.
 *
 * @throws CommandFailed when there is none
 */
export async function openExistingStore({ store }: Config): Promise<Store> {
  if (await isMissing(store))
    throw new CommandFailed(`there is no store at ${placeOf(store)}: run seatgate bootstrap or start first`)
  return openStore(store)
}

/** The store, or where there is none yet, an empty one as the first start would make it. */
export interface StoreToLookAt {
  readonly store: Store
  /** Says that there was none; null where there was. */
  readonly note: string | null
  close(): Promise<void>
}

/** For a command whose answer on an empty store is a true one, as long as it says so. */
export async function openStoreOrEmpty({ store: config }: Config): Promise<StoreToLookAt> {
  if (!(await isMissing(config))) {
    const store = await openStore(config)
    return { store, note: null, close: () => store.close() }
  }
  const folder = await mkdtemp(join(tmpdir(), 'seatgate-')).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandFailed(
      `there is no store at ${placeOf(config)} yet, nor a folder for an empty one: ${cause.message}`,
    )
  })
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const store = await openStore({ kind: 'sqlite', path: join(folder, 'empty.db') })
    const note = `there is no store at ${placeOf(config)} yet: nobody has a Seat or an API key`
    return { store, note, close: () => store.close().finally(remove) }
  } catch (cause) {
    await remove()
    throw cause
  }
}

async function isMissing(store: StoreConfig): Promise<boolean> {
  return store.kind === 'sqlite' && !(await exists(store.path))
}

function placeOf(store: StoreConfig): string {
  return store.kind === 'sqlite' ? store.path : store.kind
}

async function exists(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  return found !== null
}
