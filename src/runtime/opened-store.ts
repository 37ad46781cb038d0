/**
 * The store of a gateway that starts. If it is away, a gateway with tables of the store starts with those that
 * it had (`tables.cache`), listens, and decides nothing until the store responds.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { lateStore, openStore, type Store, type StoreLocation } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'
import { isTransient, type Startup } from './store-retries.ts'

/** Milliseconds between attempts of a store that is away. */
const RETRY_EVERY = 1000

export interface OpenedStore {
  readonly store: Store
  /** Opens a store that is away; null: it is open. */
  readonly open: (() => Promise<void>) | null
}

/** @param mayBeAway whether the gateway can start without it */
export async function openedStore(
  location: StoreLocation,
  startup: Startup,
  mayBeAway: boolean,
): Promise<OpenedStore> {
  if (mayBeAway)
    try {
      return { store: await openStore(location), open: null }
    } catch (cause) {
      const late = isTransient(cause) ? await lateStore(location) : null
      if (late !== null) return late
    }
  const store = await startup.retry(
    () => openStore(location),
    (late) => late.close(),
  )
  return { store, open: null }
}

/**
 * Repeats the work until it succeeds.
 *
 * @param ended whether the gateway ends
 */
export async function onceOpen(
  open: () => Promise<void>,
  ended: () => boolean,
  { logger }: Pick<Log, 'logger'>,
): Promise<void> {
  let latest = ''
  while (!ended()) {
    try {
      return await open()
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      if (why !== latest) logger.error({ why }, 'the store is away: no request is decided until it responds')
      latest = why
    }
    await sleep(RETRY_EVERY, undefined, { ref: false })
  }
}
