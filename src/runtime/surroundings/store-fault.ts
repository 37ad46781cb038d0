/** Why the store could not be opened. */

import { StoreUnavailable } from '../../../seats-admin/index.ts'
import type { Config } from '../../config/config.ts'
import { type Finding, settingOf, SurroundingsFault } from './fault.ts'
import { postgresFinding } from './postgres-fault.ts'
import { sqliteFinding } from './sqlite-fault.ts'

type StoreSettings = Pick<Config, 'store' | 'sources'>

export function storeFinding({ store, sources }: StoreSettings, cause: StoreUnavailable): Finding {
  const setting = settingOf(sources.store)
  const code = cause.code ?? (cause.fault === 'timeout' ? 'TIMEOUT' : '')
  const reason = { code, message: cause.message }
  return store.kind === 'sqlite'
    ? sqliteFinding(store.path, setting, reason)
    : postgresFinding(store.url, setting, reason, cause)
}

/** @returns a SurroundingsFault for a store that is unavailable, any other cause as it is */
export function storeFault(settings: StoreSettings, cause: unknown): unknown {
  if (!(cause instanceof StoreUnavailable)) return cause
  return new SurroundingsFault(settings.sources.store, storeFinding(settings, cause))
}

/** Rejects with a SurroundingsFault when the store is unavailable. */
export async function explainStore<V>(settings: StoreSettings, open: () => V | Promise<V>): Promise<V> {
  try {
    return await open()
  } catch (cause) {
    throw storeFault(settings, cause)
  }
}
