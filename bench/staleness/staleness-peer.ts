/**
 * What the bench of staleness needs of a peer: places to ask, and a right that can be granted and revoked.
 */

import { Pool } from 'undici'
import type { ReadResult } from '../../src/cli/verify/place-client.ts'
import type { ReadPlace } from '../../src/cli/verify/readers.ts'
import type { Ending } from '../harness.ts'

/** The header that names the caller, with its value. */
export type Caller = Readonly<Record<string, string>>

export interface RunningStalenessPeer {
  readonly places: readonly ReadPlace<Caller>[]
  readonly caller: Caller
  /** Grants or revokes the right. Resolves with the 2xx. */
  write(allow: boolean, turn: number): Promise<void>
  /**
   * Called after a quarter of the run, when something begins to fail, and after three quarters; left out:
   * nothing fails.
   */
  fault?(): Promise<void>
}

export interface StalenessPeer {
  readonly name: string
  readonly label: string
  /** The configuration, as published beside the figures. */
  readonly configuration: string
  /** Seconds between two writes, longer than anything is kept; 1 by default. */
  readonly every?: number
  /** Returns why it cannot be started here; null: it can. Left out: it always can. */
  unavailable?(): string | null
  start(ending: Ending, folder: string): Promise<RunningStalenessPeer>
}

/** The setup of `bench/servers/cached-gateway.ts`, as JSON. */
export interface CachedGatewaySetup {
  readonly port: number
  readonly redis: string
  /** Milliseconds that it keeps a right; 0: it keeps nothing. */
  readonly keeps: number
}

/** The setup of `bench/servers/casbin-gateway.ts`, as JSON. */
export interface CasbinSetup {
  readonly port: number
  /** URLs. */
  readonly redis: string
  readonly store: string
  /** Whether it makes the table. */
  readonly migrates: boolean
}

/** A server on loopback that is asked by `read`, whose failures are reasons for no answer. */
export function placeOf(
  ending: Ending,
  port: number,
  read: (pool: Pool, caller: Caller) => Promise<ReadResult>,
): ReadPlace<Caller> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 8, headersTimeout: 5000 })
  ending.teardown(() => pool.destroy())
  const reasonOf = (cause: unknown): ReadResult => ({
    answer: null,
    reason: cause instanceof Error ? cause.name : String(cause),
  })
  return { name: `127.0.0.1:${port}`, ask: (caller) => read(pool, caller).catch(reasonOf) }
}

/** A path of a server on loopback: 2xx allows, 401 and 403 refuse. */
export function placeAt(ending: Ending, port: number, path: string): ReadPlace<Caller> {
  return placeOf(ending, port, async (pool, headers) => {
    const { statusCode: status, body } = await pool.request({ path, method: 'GET', headers })
    await body.dump()
    if (status >= 200 && status < 300) return { answer: 'allow', requestId: '' }
    if (status === 401 || status === 403) return { answer: 'permission_denied', requestId: '' }
    return { answer: null, reason: `status ${status}` }
  })
}

/** Rejects without a 2xx. */
export async function change(url: string, options: RequestInit): Promise<void> {
  const response = await fetch(url, options)
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${url}: status ${response.status}`)
}
