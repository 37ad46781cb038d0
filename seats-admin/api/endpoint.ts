/** What an endpoint of administration is to the gateway, and what it needs from it. */

import { type Committed, committedOf } from '../model/change.ts'
import { type AdminRefusal, isRefusal } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { AdminStore, Writer, Written } from '../store/store.ts'

export interface AdminEndpoint {
  readonly method: string
  /** A route pattern: `/v1/seats/{seat_id}`. */
  readonly path: string
  /** What a caller must hold in the request's space. */
  readonly permission: string
  /** Rejects with StoreUnavailable, or as `announce` does: then a write may have been committed all the same. */
  handle(request: AdminRequest): Promise<AdminReply | AdminRefusal>
}

export interface AdminRequest {
  /** Decoded, by the names in the path. */
  readonly params: Readonly<Record<string, string>>
  /** Without the `?`; '' when there is none. */
  readonly query: string
  /** The parsed JSON; undefined when the request has no body. */
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
  /** To be sent as JSON; absent: no body. */
  readonly body?: unknown
}

export interface AdminDeps {
  readonly store: AdminStore
  /** Resolves once no instance decides on the state from before. Awaited before a write is answered. */
  readonly announce: (committed: Committed) => Promise<void>
  /** ms since the epoch */
  readonly now: () => number
  /** Bytes that a Seat may take; see `seatSize`. */
  readonly seatBytes: number
}

export function writerOf({ tenant, by, scope }: Caller, { now, seatBytes }: AdminDeps): Writer {
  return { tenant, by, scope, now: now(), seatBytes }
}

/** Announces a committed write, and only then makes the answer. Only what changed is told: the value may hold a key. */
export async function answerWrite<V>(
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
