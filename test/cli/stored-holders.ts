/** A store for `who-can` and `can`. */

import { join } from 'node:path'
import type { Test } from 'tap'
import { bootstrapTenant, openSqliteStore } from '../../seats-admin/index.ts'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'

export const FILES = { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES }

const SEAT = { name: 'Viewer', spaces: ['main'], permissions: ['trainings:list'] }

export interface Stored {
  readonly cwd: string
  readonly seat: string
  readonly key: string
}

export const NAME = 'Viewer\u001b[31m'

/** The first Seat and its key; another one, which a key, `ann` and `ben` hold. `ben` is blocked. */
export async function storedHolders(t: Test): Promise<Stored> {
  const cwd = folderWith(t, FILES)
  const store = await openSqliteStore({ path: join(cwd, 'seatgate.db') })
  const now = Date.now()
  await bootstrapTenant(store, { tenant: 'acme', adminSpace: 'admin', now })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const writer = { tenant: 'acme', by: 'test', scope, now }
  const seat = await store.createSeat(writer, { ...SEAT, name: NAME, spaces: ['main', 'dev'] })
  if (!('value' in seat)) throw new Error(seat.detail)
  const { id } = seat.value
  await store.recordSignIn('acme', { sub: 'ann', email: 'ann@acme.example', name: null, at: 0 }, [id])
  await store.recordSignIn('acme', { sub: 'ben', email: null, name: null, at: 0 }, [id])
  await store.createBlock(writer, { user: 'ben', until: null, reason: null })
  const key = await store.createApiKey(writer, { name: 'ci', seats: [NAME], expiresAt: null })
  if (!('value' in key)) throw new Error(key.detail)
  await store.close()
  return { cwd, seat: id, key: key.value.id }
}
