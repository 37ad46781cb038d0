/**
 * What Seatgate uses of Node.js that has no public name. Each function works without it, at a higher cost or
 * with less effect, and {@link missingInternals} says at the start what this version of Node.js lacks.
 */

import { Socket } from 'node:net'
import type { SecureContext, Server, TLSSocket } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The fields that `onread` of `net.connect` sets (`initSocketHandle` in lib/net.js of Node.js). */
interface ReadFields {
  [field: symbol]: unknown
  readonly _handle?: { useUserBuffer?(buffer: Buffer): void } | null
}

function fieldOf(name: string): symbol | null {
  return Object.getOwnPropertySymbols(new Socket()).find(({ description }) => description === name) ?? null
}

const BUFFER = fieldOf('kBuffer')
const CALLBACK = fieldOf('kBufferCb')

/**
 * Makes a socket of a server read into a buffer of the caller.
 *
 * @param callback receives the length of each read, and returns false to stop reading
 * @returns false if the socket does not support it, as over TLS
 */
export function readInto(buffer: Buffer, socket: Socket, callback: (length: number) => boolean): boolean {
  const fields = socket as unknown as ReadFields
  const handle = fields._handle
  if (BUFFER === null || CALLBACK === null || 'encrypted' in socket) return false
  if (handle?.useUserBuffer === undefined || fields[BUFFER] !== null) return false
  fields[BUFFER] = buffer
  fields[CALLBACK] = callback
  handle.useUserBuffer(buffer)
  return true
}

interface Readable {
  readonly _readableState?: { highWaterMark?: number }
}

/**
 * Makes a paused socket keep one read. Otherwise it keeps 64 KiB in reads of any size, and each is an object
 * of its own.
 */
export function keepOneRead(socket: Socket): void {
  const { _readableState: state } = socket as unknown as Readable
  if (state?.highWaterMark !== undefined) state.highWaterMark = 0
}

/** The used subset of the TCP handle. */
interface TcpHandle {
  close(closed?: () => void): void
  reset(closed?: () => void): void
}

/**
 * Closes a TLS connection by RST, which `resetAndDestroy` refuses (Node.js 26): the TLS handle closes the TCP
 * handle below it. Without that handle it is closed as usual.
 */
export function resetTls(socket: TLSSocket): void {
  const { _handle } = socket as TLSSocket & { _handle?: { _parent?: Partial<TcpHandle> } | null }
  const tcp = _handle?._parent
  if (typeof tcp?.reset === 'function') {
    const { reset } = tcp
    tcp.close = (closed) => reset.call(tcp, closed)
  }
  socket.destroy()
}

/**
 * Makes a server use this context for connections that ask for no server name. The context that Node.js makes
 * from the server's options ignores `allowPartialTrustChain` (`setSecureContext` of tls.Server, Node.js 22 to
 * 24). If the internal field is missing, the server keeps that context, which trusts less.
 */
export function useContext(server: Server, context: SecureContext): void {
  if ('_sharedCreds' in server) server._sharedCreds = context
}

type Collect = (options: { readonly type: 'minor' }) => void

let known: Collect | null | undefined

/** Collects the young generation. Without V8's `gc`, V8 collects at its own time. */
export function collectYoungGeneration(): void {
  collector()?.({ type: 'minor' })
}

function collector(): Collect | null {
  if (known === undefined) known = newCollector()
  return known
}

/** V8's `gc`, which only contexts created under this flag have. */
function newCollector(): Collect | null {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  return typeof gc === 'function' ? (gc as Collect) : null
}

/** What this version of Node.js lacks, in words; empty as long as all is there. */
export function missingInternals(): string[] {
  const missing: string[] = []
  if (BUFFER === null || CALLBACK === null) missing.push('read buffers of sockets')
  const { _readableState: state } = new Socket() as unknown as Readable
  if (state?.highWaterMark === undefined) missing.push('limits of paused sockets')
  if (collector() === null) missing.push('collections of the young generation')
  return missing
}
