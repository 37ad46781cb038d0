/**
 * The store of a test's gateway before its first request: it has the first Seat and API key of each tenant.
 */

import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootstrapTenant, openStore, type Store } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { onceARun } from './once-a-run.ts'

const TENANTS = ['acme', 'globex'] as const

interface BootstrappedStore {
  /** Tenant → the API key of its Seat `admin`. */
  readonly keys: Readonly<Record<string, string>>
  /** The bytes of its file, in base64. */
  readonly file: string
}

let made: Promise<BootstrappedStore> | null = null

/** Made once for all gateways of this process: each opening of a store starts two threads. */
export function bootstrappedStore(): Promise<BootstrappedStore> {
  made ??= onceARun('bootstrapped-store', bootstrap)
  return made
}

async function bootstrap(): Promise<BootstrappedStore> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'seatgate-test-'))
  const path = join(folder.path, 'seatgate.db')
  const store = await openStore({ kind: 'sqlite', path, timeout: 60_000 })
  const keys: Record<string, string> = {}
  for (const tenant of TENANTS) keys[tenant] = await bootstrapIn(store, tenant)
  await store.close()
  return { keys, file: readFileSync(path, 'base64') }
}

/** @returns the API key of the tenant's administrator */
export async function bootstrapIn(store: Store, tenant: string): Promise<string> {
  const made = await bootstrapTenant(store, { tenant, adminSpace: 'admin', now: Date.now() })
  if (isRefusal(made)) throw new Error(made.detail)
  return made.key
}
