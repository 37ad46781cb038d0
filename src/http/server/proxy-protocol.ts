/**
 * The PROXY protocol, versions 1 and 2 (haproxy.org, proxy-protocol.txt): a load balancer of TCP connections
 * announces the client before the first byte of it. Strict: any deviation closes the connection.
 */

import { isIPv4, isIPv6, type Socket, SocketAddress } from 'node:net'
import { ignore } from '../../lib/ignore.ts'

interface ProxyHeader {
  /** The length of the header in bytes. */
  readonly size: number
  /** The client; null if the balancer connects for itself, or does not know the client. */
  readonly client: { readonly address: string; readonly port: number } | null
}

/** Version 1, CRLF included. */
const MAX_V1_BYTES = 107
/** Version 2: the addresses and TLVs. */
const MAX_V2_BYTES = 4096
const V1_SIGNATURE = Buffer.from('PROXY ')
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const PORT = '(0|[1-9][0-9]{0,4})'
const LINE = new RegExp(`^PROXY TCP([46]) ([0-9A-Fa-f.:]+) ([0-9A-Fa-f.:]+) ${PORT} ${PORT}$`)

/** @returns null if more bytes are needed; a string describes a fault */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | string | null {
  for (const [signature, parse] of [
    [V1_SIGNATURE, parseV1],
    [V2_SIGNATURE, parseV2],
  ] as const) {
    const common = Math.min(bytes.length, signature.length)
    if (!bytes.subarray(0, common).equals(signature.subarray(0, common))) continue
    return common < signature.length ? null : parse(bytes)
  }
  return 'the connection does not begin with a PROXY header'
}

function parseV1(bytes: Buffer): ProxyHeader | string | null {
  const line = bytes.subarray(0, MAX_V1_BYTES).toString('latin1')
  const end = line.indexOf('\r\n')
  if (end < 0) return bytes.length < MAX_V1_BYTES ? null : 'the version 1 header is too long'
  const header = line.slice(0, end)
  // The rest of the line is ignored, but it must be one line.
  if (/^PROXY UNKNOWN(?: [\x20-\x7e]*)?$/.test(header)) return { size: end + 2, client: null }
  const match = LINE.exec(header)
  if (match === null) return 'the version 1 header is malformed'
  const [, family, from = '', to = '', port = '', toPort = ''] = match
  const isAddress = family === '4' ? isIPv4 : isIPv6
  if (!isAddress(from) || !isAddress(to)) return 'the header has an invalid address'
  if (Number(port) > 65535 || Number(toPort) > 65535) return 'the header has an invalid port'
  return { size: end + 2, client: { address: canonical(from), port: Number(port) } }
}

function parseV2(bytes: Buffer): ProxyHeader | string | null {
  if (bytes.length < 16) return null
  const command = bytes.readUInt8(12)
  if (command >> 4 !== 2) return 'the version of the binary header is not 2'
  if ((command & 15) > 1) return 'the command is neither LOCAL nor PROXY'
  const length = bytes.readUInt16BE(14)
  if (length > MAX_V2_BYTES) return 'the version 2 header is too long'
  if (bytes.length < 16 + length) return null
  const body = bytes.subarray(16, 16 + length)
  // LOCAL: a health check of the balancer. The addresses are ignored.
  if ((command & 15) === 0) return { size: 16 + length, client: null }
  return parseAddresses(bytes.readUInt8(13), body)
}

function parseAddresses(family: number, body: Buffer): ProxyHeader | string {
  const size = 16 + body.length
  if (family === 0x00) return { size, client: null }
  const width = family === 0x11 ? 4 : family === 0x21 ? 16 : 0
  if (width === 0) return 'the protocol is not TCP over IPv4 or IPv6'
  const addresses = 2 * width + 4
  if (body.length < addresses) return 'the version 2 header is too short for its addresses'
  if (!areTlvs(body.subarray(addresses))) return 'a TLV of the version 2 header is truncated'
  const address = width === 4 ? body.subarray(0, 4).join('.') : groups(body.subarray(0, 16))
  return { size, client: { address: canonical(address), port: body.readUInt16BE(2 * width) } }
}

/** A sequence of type, length (two bytes) and value. */
function areTlvs(bytes: Buffer): boolean {
  let at = 0
  while (at + 3 <= bytes.length) at += 3 + bytes.readUInt16BE(at + 1)
  return at === bytes.length
}

function groups(bytes: Buffer): string {
  return bytes.toString('hex').replace(/(....)(?!$)/g, '$1:')
}

/** The spelling of the operating system, so that a client has one name in logs. */
function canonical(address: string): string {
  return new SocketAddress({ address, family: isIPv4(address) ? 'ipv4' : 'ipv6' }).address
}

/**
 * Reads the header and returns the following bytes to the socket. From then on the socket has the client's
 * address as its remote one. Calls back once, or never if the connection is closed before. The caller sets
 * the timeout.
 *
 * @param done gets the fault, or null
 */
export function readProxyHeader(socket: Socket, done: (fault: string | null) => void): void {
  let bytes: Buffer = Buffer.alloc(0)
  const stop = () => {
    socket.off('readable', read).off('end', ended).off('close', stop).off('error', ignore)
  }
  const finish = (fault: string | null) => {
    stop()
    // Errors before the next listener, or before the close, are ignored.
    if (fault !== null) socket.on('error', ignore)
    done(fault)
  }
  const ended = () => finish('the connection ended before the end of its PROXY header')
  const read = () => {
    for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read())
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    const header = parseProxyHeader(bytes)
    if (header === null) return
    if (typeof header === 'string') return finish(header)
    if (header.client !== null) setRemoteAddress(socket, header.client)
    if (bytes.length > header.size) socket.unshift(bytes.subarray(header.size))
    finish(null)
  }
  socket.on('readable', read).on('end', ended).on('close', stop).on('error', ignore)
}

function setRemoteAddress(socket: Socket, { address, port }: { address: string; port: number }): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: address },
    remotePort: { value: port },
    remoteFamily: { value: isIPv4(address) ? 'IPv4' : 'IPv6' },
  })
}

/** Gives the socket of TLS above another one the address that a PROXY header has set there, if one has. */
export function copyRemoteAddress(from: Socket, to: Socket): void {
  if (!Object.hasOwn(from, 'remoteAddress')) return
  setRemoteAddress(to, { address: from.remoteAddress ?? '', port: from.remotePort ?? 0 })
}
