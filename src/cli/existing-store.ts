/** Opens the store for commands that only read it. */

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store, withSeatsFrom } from '../../seats-admin/index.ts'
import type { Config, StoreConfig } from '../config/config.ts'
import { seatsFromOf } from '../config/seats-source.ts'
import { explainStore } from '../runtime/surroundings/store-fault.ts'
import { CommandFailed, type Terminal } from './command.ts'

/** Opens a store that exists: an empty one would give wrong output. @throws CommandFailed if there is none */
export async function openExistingStore(config: Config, terminal: Waiting): Promise<Store> {
  const missing = await missingFile(config.store)
  if (missing !== null)
    throw new CommandFailed(`there is no store at ${missing}: run seatgate bootstrap or start first`)
  return openConfiguredStore(config, terminal)
}

type Waiting = Pick<Terminal, 'storeTimeout'>

/** Opens the store; a missing one is created. */
export async function openConfiguredStore(config: Config, { storeTimeout }: Waiting): Promise<Store> {
  const store = await explainStore(config, () => openStore({ ...config.store, timeout: storeTimeout }))
  return withSeatsFrom(store, seatsFromOf(config))
}

/** Runs the work on a store that exists, and closes it. @throws CommandFailed if there is none */
export async function withStore<R>(
  config: Config,
  terminal: Waiting,
  work: (store: Store) => Promise<R>,
): Promise<R> {
  const store = await openExistingStore(config, terminal)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/**
 * Runs the work on the store, or if there is none yet, on an empty one like that of a first start; a note
 * says so. This is for commands whose output is right for an empty store.
 */
export async function withStoreOrEmpty<R>(
  config: Config,
  terminal: Terminal,
  work: (store: Store, isEmpty: boolean) => Promise<R>,
): Promise<R> {
  const missing = await missingFile(config.store)
  if (missing === null) return withStore(config, terminal, (store) => work(store, false))
  const folder = await mkdtemp(join(tmpdir(), 'seatgate-')).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandFailed(
      `there is no store at ${missing} yet, and no folder for an empty one can be created: ${cause.message}`,
    )
  })
  try {
    const store = await openStore({
      kind: 'sqlite',
      path: join(folder, 'empty.db'),
      timeout: terminal.storeTimeout,
    })
    terminal.printError(`note: there is no store at ${missing} yet: no Seat or API key exists`)
    return await work(store, true).finally(() => store.close())
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The path of a missing store; null if the store exists. */
export async function missingFile(store: StoreConfig): Promise<string | null> {
  if (store.kind !== 'sqlite') return null
  const file = await stat(store.path).catch((error: NodeJS.ErrnoException) => {
    // The opening reports other errors, such as a folder that this user may not enter.
    return error.code === 'ENOENT' || error.code === 'ENOTDIR' ? null : undefined
  })
  return file === null ? store.path : null
}
