/** What the bench of staleness needs of a peer: places to ask, and a right that can be granted and revoked. */

import { Pool } from 'undici'
import type { Asked } from '../../src/cli/verify/asked-place.ts'
import type { ReadPlace } from '../../src/cli/verify/readers.ts'
import type { Ending } from '../scale/ending.ts'

/** The header that names the caller, with its value. */
export type Caller = Readonly<Record<string, string>>

export interface RunningStalenessPeer {
  readonly places: readonly ReadPlace<Caller>[]
  readonly caller: Caller
  /** Grants or revokes. Resolves with the 2xx. */
  write(allow: boolean, turn: number): Promise<void>
  /** Called after a quarter of the run, where something begins to fail, and after three quarters; left out: nothing fails. */
  fault?(): Promise<void>
}

export interface StalenessPeer {
  readonly name: string
  readonly label: string
  /** As published beside the figures. */
  readonly configuration: string
  /** Seconds between two writes, longer than anything is kept; 1 by default. */
  readonly every?: number
  /** Why it can't be started here; null: it can. Left out: it always can. */
  unavailable?(): string | null
  start(ending: Ending, folder: string): Promise<RunningStalenessPeer>
}

/** Of `bench/servers/cached-gateway.ts`, as JSON. */
export interface CachedGatewaySetup {
  readonly port: number
  readonly redis: string
  /** ms that it keeps a right; 0: it keeps nothing. */
  readonly keeps: number
}

/** Of `bench/servers/casbin-gateway.ts`, as JSON. */
export interface CasbinSetup {
  readonly port: number
  /** URLs. */
  readonly redis: string
  readonly store: string
  /** Makes the table. */
  readonly migrates: boolean
}

/** A path of a server on loopback: 2xx allows, 401 and 403 refuse. */
export function placeAt(ending: Ending, name: string, port: number, path: string): ReadPlace<Caller> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 8, headersTimeout: 5000 })
  ending.teardown(() => pool.destroy())
  return {
    name,
    async ask(caller): Promise<Asked> {
      try {
        const { statusCode: status, body } = await pool.request({ path, method: 'GET', headers: caller })
        await body.dump()
        if (status >= 200 && status < 300) return { answer: 'allow', requestId: '' }
        if (status === 401 || status === 403) return { answer: 'permission_denied', requestId: '' }
        return { answer: null, reason: `status ${status}` }
      } catch (cause) {
        return { answer: null, reason: cause instanceof Error ? cause.name : String(cause) }
      }
    },
  }
}

/** @throws without a 2xx */
export async function change(url: string, options: RequestInit): Promise<void> {
  const response = await fetch(url, options)
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${url}: status ${response.status}`)
}
