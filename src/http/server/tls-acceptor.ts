/**
 * TLS on accepted connections. Certificates, keys and versions of an acceptor never change: a reload makes
 * another one, and connections keep what they began with.
 */

import { constants, hkdfSync, randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import {
  createSecureContext,
  createServer,
  type SecureContext,
  type SecureContextOptions,
  type Server,
  type TLSSocket,
} from 'node:tls'
import type { ListenerTls, ServerCertificate } from '../../config/config.ts'
import { useContext } from '../../lib/node-internals.ts'
import { type HandshakeFault, handshakeFault, UnknownServerName } from './handshake-faults.ts'
import { ignore } from '../../lib/ignore.ts'

interface TlsAcceptorOptions {
  readonly tls: ListenerTls
  /** Offered by ALPN (RFC 7301). */
  readonly http2: boolean
  /** The session tickets are sealed by keys derived from them; see `ticketKeysOf`. */
  readonly secrets: readonly Uint8Array[]
  /** Seconds for which a session can be resumed, as its ticket announces; 5 minutes by default. */
  readonly sessionTimeout?: number
}

/** Receives the result of a handshake. One of the two is called once. */
export interface HandshakeOwner {
  /** The client is authenticated as the settings demand. The socket has an `error` listener. */
  secured(socket: TLSSocket): void
  /** The connection is closed, or about to be. */
  failed(fault: HandshakeFault): void
}

interface TicketKeys {
  /** 48 bytes: name, HMAC key and AES key of Node.js. */
  readonly ticketKeys: Buffer
  /** Node.js derives it from the arguments of the process otherwise. */
  readonly sessionIdContext: string
}

const DAY = 24 * 60 * 60 * 1000
/** Seconds. OpenSSL's tickets would announce two hours. */
const SESSION_TIMEOUT = 300
/** All suites of TLS 1.3 of Node.js: each is an AEAD with forward secrecy (RFC 8446, appendix B.4). */
const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']
const TICKET_BYTES = 48
/** OpenSSL accepts 32 bytes at most: as many hexadecimal digits. */
const CONTEXT_BYTES = 16

export class TlsAcceptor {
  readonly #options: TlsAcceptorOptions
  #day: number
  #server: Server

  /**
   * Throws where OpenSSL refuses a certificate or a key.
   *
   * @param now ms since the epoch
   */
  constructor(options: TlsAcceptorOptions, now = Date.now()) {
    this.#options = options
    this.#day = dayOf(now)
    this.#server = buildServer(options, this.#day)
  }

  /**
   * Changes the keys of session tickets once a day.
   *
   * @param now ms since the epoch
   */
  rotate(now: number): void {
    if (dayOf(now) === this.#day) return
    this.#day = dayOf(now)
    this.#server = buildServer(this.#options, this.#day)
  }

  /**
   * Starts the handshake.
   *
   * @param socket nothing of TLS has been read from it, or was returned to it
   */
  accept(socket: Socket, owner: HandshakeOwner): void {
    socket.on('error', ignore)
    // A client that ends its side within the handshake has left.
    socket.allowHalfOpen = false
    const { clientAuth } = this.#options.tls
    const report = (event: string, first: unknown, second: unknown): boolean => {
      if (event === 'secureConnection') secured(first as TLSSocket, clientAuth !== 'none', owner)
      else if (event === 'tlsClientError') failed(first as Error, second as TLSSocket, owner)
      return true
    }
    // Node.js reports handshakes to the server of the connection, and does not say which connection it is.
    const ofThisConnection = Object.create(this.#server, { emit: { value: report } }) as Server
    EventEmitter.prototype.emit.call(ofThisConnection, 'connection', socket)
  }
}

function secured(socket: TLSSocket, asksForCertificate: boolean, owner: HandshakeOwner): void {
  socket.on('error', ignore)
  socket.allowHalfOpen = true
  if (asksForCertificate && !socket.authorized && socket.getPeerX509Certificate() !== undefined) {
    socket.destroy()
    return owner.failed({ reason: 'client_certificate', detail: String(socket.authorizationError) })
  }
  owner.secured(socket)
}

function failed(error: Error, socket: TLSSocket, owner: HandshakeOwner): void {
  socket.destroy()
  owner.failed(handshakeFault(error, socket.authorizationError))
}

/** It never listens: connections are handed to it. */
function buildServer(options: TlsAcceptorOptions, day: number): Server {
  const { tls, http2 } = options
  const keys = ticketKeysOf(options.secrets, day)
  const contexts = contextsOf(options, keys)
  const [first] = tls.certificates
  if (first === undefined) throw new Error('tls: there is no certificate')
  const server = createServer({
    ...contextOptions(options, keys, first),
    ALPNProtocols: http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    requestCert: tls.clientAuth !== 'none',
    rejectUnauthorized: tls.clientAuth === 'require',
    SNICallback: (name, select) => {
      const context = contexts.find(name)
      if (context === null) select(new UnknownServerName(name))
      else select(null, context)
    },
  })
  useContext(server, createSecureContext(contextOptions(options, keys, first)))
  return server
}

function contextsOf(options: TlsAcceptorOptions, keys: TicketKeys): CertificateNames<SecureContext> {
  const contexts = new CertificateNames<SecureContext>()
  for (const certificate of options.tls.certificates)
    contexts.add(certificate.names, createSecureContext(contextOptions(options, keys, certificate)))
  return contexts
}

function contextOptions(
  {
    tls: { minVersion, ciphers, clientCa, clientAuth },
    sessionTimeout = SESSION_TIMEOUT,
  }: TlsAcceptorOptions,
  keys: TicketKeys,
  { cert, key }: ServerCertificate,
): SecureContextOptions {
  const { SSL_OP_NO_RENEGOTIATION, SSL_OP_NO_TICKET } = constants
  // A client with a better suite never gets one for old clients. Without AES in hardware: ChaCha20.
  const order = constants.SSL_OP_CIPHER_SERVER_PREFERENCE | constants.SSL_OP_PRIORITIZE_CHACHA
  // Resumption skips the check of the client's certificate.
  const resumption = clientAuth === 'none' ? 0 : SSL_OP_NO_TICKET
  return {
    cert,
    key,
    ...keys,
    // An issuing authority is trusted by itself: with its root, its siblings would be too.
    ...(clientCa === null ? {} : { ca: clientCa, allowPartialTrustChain: true }),
    sessionTimeout,
    ciphers: [...TLS13_SUITES, ...ciphers].join(':'),
    minVersion: `TLSv${minVersion}`,
    secureOptions: SSL_OP_NO_RENEGOTIATION | order | resumption,
  }
}

/**
 * Selects a certificate by the name that a client asks for (SNI, RFC 6066, section 3). Names are compared
 * without case and without a final dot. An exact name precedes a wildcard, which stands for exactly one label
 * (RFC 6125, section 6.4.3).
 */
export class CertificateNames<V> {
  readonly #exact = new Map<string, V>()
  /** The values by the name without its first label. */
  readonly #wildcards = new Map<string, V>()

  /** Names that are there already keep their value. */
  add(names: readonly string[], value: V): void {
    for (const name of names) {
      const wildcard = name.startsWith('*.')
      const [map, key] = wildcard ? [this.#wildcards, name.slice(2)] : [this.#exact, name]
      if (!map.has(key)) map.set(key, value)
    }
  }

  /** @returns null for an unknown name */
  find(name: string): V | null {
    const wanted = name.toLowerCase().replace(/\.$/, '')
    const dot = wanted.indexOf('.')
    const rest = dot > 0 ? wanted.slice(dot + 1) : ''
    return this.#exact.get(wanted) ?? (rest === '' ? null : (this.#wildcards.get(rest) ?? null))
  }
}

/**
 * The number of the day in UTC, which changes the keys.
 *
 * @param now ms since the epoch
 */
function dayOf(now: number): number {
  return Math.floor(now / DAY)
}

/**
 * All workers and all instances of a deployment derive the same keys of session tickets (RFC 5077; RFC 8446,
 * section 4.6.1), so that a client resumes its session at any of them.
 *
 * @param secrets only gateways of the deployment know them; without one, the keys are random
 */
function ticketKeysOf(secrets: readonly Uint8Array[], day: number): TicketKeys {
  const secret = secrets.length === 0 ? randomBytes(32) : joined(secrets)
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `seatgate tls ${purpose}`, bytes))
  return {
    ticketKeys: derive(`tickets ${day}`, TICKET_BYTES),
    sessionIdContext: derive('context', CONTEXT_BYTES).toString('hex'),
  }
}

/** The secrets with their lengths: other secrets never give the same bytes. */
function joined(secrets: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    secrets.flatMap((each) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(each.length)
      return [length, each]
    }),
  )
}
