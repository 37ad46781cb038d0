/** The store, for commands that only look at it. */

import { stat } from 'node:fs/promises'
import { openStore, type Store } from '../../seats-admin/index.ts'
import type { Config } from '../config/config.ts'
import { CommandFailed } from './command.ts'

/**
 * A store that is there, for commands that only read it: an empty file made in passing would answer wrongly.
 *
 * @throws CommandFailed when there is none
 */
export async function openExistingStore({ store }: Config): Promise<Store> {
  if (store.kind === 'sqlite' && !(await exists(store.path)))
    throw new CommandFailed(`there is no store at ${store.path}: run seatgate bootstrap or start first`)
  return openStore(store)
}

async function exists(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  return found !== null
}
