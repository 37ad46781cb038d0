/** The interface between the gateway and the administration endpoints. */

import { type Committed, committedOf } from '../model/change.ts'
import { type AdminRefusal, isRefusal } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { AdminStore, Writer, Written } from '../store/store.ts'

export interface AdminEndpoint {
  readonly method: string
  /** A route pattern: `/v1/seats/{seat_id}`. */
  readonly path: string
  /** The permission that the caller must hold in the request's space. */
  readonly permission: string
  /** Rejects with StoreUnavailable, or as `announce` does; the write may have been committed then. */
  handle(request: AdminRequest): Promise<AdminReply | AdminRefusal>
}

export interface AdminRequest {
  /** Decoded path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  /** Without the `?`; '' without a query. */
  readonly query: string
  /** The parsed JSON; undefined without a body. */
  readonly body: unknown
  readonly caller: Caller
}

export interface Caller {
  readonly tenant: string
  /** The token's `sub`, or the API key's id. */
  readonly by: string
  readonly scope: Scope
}

export interface AdminReply {
  readonly status: number
  /** Sent as JSON; undefined without a body. */
  readonly body?: unknown
}

export interface AdminDeps {
  readonly store: AdminStore
  /** Resolves when no instance decides by the old state. Awaited before the response to a write. */
  readonly announce: (committed: Committed) => Promise<void>
  /** ms since the epoch */
  readonly now: () => number
  /** Limit of a Seat's size in bytes; see `seatSize`. */
  readonly seatBytes: number
}

export function writerOf({ tenant, by, scope }: Caller, { now, seatBytes }: AdminDeps): Writer {
  return { tenant, by, scope, now: now(), seatBytes }
}

/** Announces a committed write before the response. Only the changes are announced: the value may contain a key. */
export async function respondToWrite<V>(
  write: Promise<Written<V> | AdminRefusal>,
  { announce }: AdminDeps,
  reply: (value: V) => AdminReply,
): Promise<AdminReply | AdminRefusal> {
  const written = await write
  if (isRefusal(written)) return written
  await announce(committedOf(written))
  return reply(written.value)
}

export const noContent = (): AdminReply => ({ status: 204 })
