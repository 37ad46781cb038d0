/** The store of a test's gateway before its first request: it has the first Seat and API key of each tenant. */

import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootstrapTenant, openStore } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'

const TENANTS = ['acme', 'globex'] as const

interface BootstrappedStore {
  /** Tenant → the API key of its Seat `admin`. */
  readonly keys: Readonly<Record<string, string>>
  /** Of the store's file. */
  readonly bytes: Buffer
}

let made: Promise<BootstrappedStore> | null = null

/** Made once in a run of test files, or else once in a process: each opening of a store starts two threads. */
export function bootstrappedStore(): Promise<BootstrappedStore> {
  const { SEATGATE_TEST_RUN: folder } = process.env
  made ??= folder === undefined ? bootstrap() : shared(join(folder, 'bootstrapped-store.json'))
  return made
}

/** By the first process of the run that needs it. */
async function shared(path: string): Promise<BootstrappedStore> {
  try {
    const { keys, bytes } = JSON.parse(readFileSync(path, 'utf8'))
    return { keys, bytes: Buffer.from(bytes, 'base64') }
  } catch {
    const store = await bootstrap()
    const written = `${path}.${process.pid}`
    writeFileSync(written, JSON.stringify({ ...store, bytes: store.bytes.toString('base64') }))
    renameSync(written, path)
    return store
  }
}

async function bootstrap(): Promise<BootstrappedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-test-'))
  try {
    const path = join(folder, 'seatgate.db')
    const store = await openStore({ kind: 'sqlite', path })
    const keys: Record<string, string> = {}
    for (const tenant of TENANTS) {
      const made = await bootstrapTenant(store, { tenant, adminSpace: 'admin', now: Date.now() })
      if (isRefusal(made)) throw new Error(made.detail)
      keys[tenant] = made.key
    }
    await store.close()
    return { keys, bytes: readFileSync(path) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
