/** The settings and events of the request listener, see `listener.ts`. */

import type { AddressInfo } from 'node:net'
import type { Limits } from '../../config/config.ts'
import type { Refusal } from '../../model/errors.ts'
import type { ConnectionState, RefusedBy } from './connections.ts'
import type { Evicted } from './eviction.ts'
import type { HandshakeFault } from './handshake-faults.ts'
import type { Listener } from './listen.ts'
import type { TlsAcceptor } from './tls-acceptor.ts'

/**
 * What a connection gave up for lack of memory. `head`: a partial head, answered 503. `ahead`: pipelined
 * bytes; the current response is its last. `request`: a request, a response, or frames of a WebSocket; the
 * connection is closed.
 */
type FreedMemory = 'head' | 'ahead' | 'request'

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
  /**
   * A TLS handshake is complete.
   *
   * @param version such as `TLSv1.3`
   */
  handshakeCompleted(version: string, resumed: boolean): void
  /**
   * A TLS handshake failed, and the connection is closed.
   *
   * @param listener host and port of its listener
   */
  handshakeFailed(fault: HandshakeFault, listener: string, peer: string | undefined): void
  /**
   * A client has broken the rules of HTTP/2, or floods: its connection is closed.
   *
   * @param code the name of the code in GOAWAY
   */
  sessionFailed(code: string, reason: string, peer: string | undefined): void
  /** The operating system could not open a connection. */
  unavailable(cause: Error): void
}

/** Settings that a reload may change. */
export interface ListenerSettings {
  readonly limits: Limits
  /**
   * Whether connections begin with the PROXY protocol, and which peers are trusted. Over HTTP/2 these are
   * proxies of many clients.
   */
  readonly proxyProtocol: boolean
  readonly trusts: (peer: string | undefined) => boolean
  /** The key by which connections of one client are counted; null for a trusted proxy. */
  readonly clientOf: (peer: string | undefined) => string | null
  /** The bound of buffered message bytes of all connections. */
  readonly memory: number
  /** Milliseconds in which a client must read some of its response; a handler may set less. */
  readonly stall: number
  /** TLS of each address, in the order of the addresses; null, or absent: plain HTTP. */
  readonly tls?: readonly (TlsAcceptor | null)[]
  /** Plain connections may also begin with the preface of HTTP/2 (RFC 9113, section 3.3). */
  readonly priorKnowledge?: boolean
  /** Each connection carries the requests of many clients, whose resets of streams do not end it. */
  readonly shared?: boolean
  /** The refusal for all connections of a peer, which are not read; null, or absent, if they are admitted. */
  readonly refusalOf?: (peer: string | undefined) => Refusal | null
}

export interface ListenerOptions {
  readonly settings: ListenerSettings
  readonly events: ListenerEvents
  /** Several processes listen at the address, and the kernel distributes the connections. */
  readonly shared?: boolean
}

export interface RequestListener extends Listener {
  /** All addresses, in the order of the configuration. */
  readonly addresses: readonly AddressInfo[]
  /** Counts by state. */
  readonly connections: Readonly<Record<ConnectionState | 'lingering', number>>
  /** Buffered message bytes of all connections. */
  readonly memory: number
  /** Applies to new connections and requests; times, and refusals of peers, apply to existing ones too. */
  configure(settings: ListenerSettings): void
}
