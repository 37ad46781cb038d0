/** What the front door is told, and whom it tells. See `listener.ts`. */

import type { Limits } from '../../config/config.ts'
import type { ConnectionState, RefusedBy } from './connections.ts'
import type { Evicted } from './eviction.ts'
import type { Listener } from './listen.ts'

/**
 * `head`: of a part of a head, and answered 503. `ahead`: of what came behind a request, whose answer is its last.
 * `request`: of its request, its answer, or of what a WebSocket was to be told; it is cut.
 */
export type FreedMemory = 'head' | 'ahead' | 'request'

/** Who is told of connections that are no requests. */
export interface ListenerEvents {
  /** There was no room for it, or for one more of its address. */
  refused(by: RefusedBy): void
  /** Another one has its place. */
  evicted(state: Evicted): void
  /** There was no memory for what it held; see `Relieved`. */
  memoryFreed(of: FreedMemory): void
  /** It did not begin as the PROXY protocol has it, or came from somebody whose word is not taken. */
  proxyHeaderRejected(reason: string, peer: string | undefined): void
  /** The system could give no further connection. */
  unavailable(cause: Error): void
}

/** What a reload may change. */
export interface ListenerSettings {
  readonly limits: Limits
  /** Whether connections begin with the PROXY protocol, and whose word is taken. */
  readonly proxyProtocol: boolean
  readonly trusts: (peer: string | undefined) => boolean
  /** The name by which connections of one client are counted; null for a peer that others come through. */
  readonly clientOf: (peer: string | undefined) => string | null
  /** Bytes of messages that all connections may hold together. */
  readonly memory: number
  /** Milliseconds that a client may take nothing of an answer; those who answer may have less patience. */
  readonly stall: number
}

export interface ListenerOptions {
  readonly settings: ListenerSettings
  readonly events: ListenerEvents
  /** Several processes listen at the address, and the kernel shares the connections out among them. */
  readonly shared?: boolean
}

export interface RequestListener extends Listener {
  /** Counts by state. */
  readonly connections: Readonly<Record<ConnectionState | 'lingering', number>>
  /** Bytes of messages that they hold. */
  readonly memory: number
  /** For connections and requests from now on; times, for those that are there as well. */
  configure(settings: ListenerSettings): void
}
