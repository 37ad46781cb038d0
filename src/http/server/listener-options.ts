/** The settings and events of the request listener, see `listener.ts`. */

import type { Limits } from '../../config/config.ts'
import type { ConnectionState, RefusedBy } from './connections.ts'
import type { Evicted } from './eviction.ts'
import type { Listener } from './listen.ts'

/**
 * What a connection gave up for lack of memory. `head`: a partial head, answered 503. `ahead`: pipelined bytes; the
 * current response is its last. `request`: a request, a response, or frames of a WebSocket; the connection is closed.
 */
export type FreedMemory = 'head' | 'ahead' | 'request'

/** Receives the events of connections, as opposed to requests. */
export interface ListenerEvents {
  /** A limit of all connections, or of one address, refused the connection. */
  refused(by: RefusedBy): void
  /** A connection was closed to admit another one. */
  evicted(state: Evicted): void
  /** A connection gave up what it held for lack of memory; see `FreedMemory`. */
  memoryFreed(of: FreedMemory): void
  /** The connection had no valid PROXY header, or its peer is not a trusted proxy. */
  proxyHeaderRejected(reason: string, peer: string | undefined): void
  /** The operating system could not open a connection. */
  unavailable(cause: Error): void
}

/** Settings that a reload may change. */
export interface ListenerSettings {
  readonly limits: Limits
  /** Whether connections begin with the PROXY protocol, and which peers are trusted. */
  readonly proxyProtocol: boolean
  readonly trusts: (peer: string | undefined) => boolean
  /** The key by which connections of one client are counted; null for a trusted proxy. */
  readonly clientOf: (peer: string | undefined) => string | null
  /** The bound of buffered message bytes of all connections. */
  readonly memory: number
  /** Milliseconds in which a client must read some of its response; a handler may set less. */
  readonly stall: number
}

export interface ListenerOptions {
  readonly settings: ListenerSettings
  readonly events: ListenerEvents
  /** Several processes listen at the address, and the kernel distributes the connections. */
  readonly shared?: boolean
}

export interface RequestListener extends Listener {
  /** Counts by state. */
  readonly connections: Readonly<Record<ConnectionState | 'lingering', number>>
  /** Buffered message bytes of all connections. */
  readonly memory: number
  /** Applies to new connections and requests; times apply to existing ones too. */
  configure(settings: ListenerSettings): void
}
