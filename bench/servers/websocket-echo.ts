/** An upstream that echoes each short WebSocket message. */

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'

/** RFC 6455, section 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const CLOSE = 0x8

const [, , port = '0'] = process.argv
const server = createServer((_request, response) => response.end())
server.on('upgrade', ({ headers }, socket) => {
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${GUID}`).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  echo(socket)
})
server.listen({ host: '127.0.0.1', port: Number(port), backlog: 4096 })
process.once('SIGTERM', () => process.exit())

function echo(socket: Duplex): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let size = sizeOf(rest); size <= rest.length; size = sizeOf(rest)) {
      answer(socket, rest.subarray(0, size))
      rest = rest.subarray(size)
    }
  })
}

/**
 * Length of a client's frame of less than 126 bytes (RFC 6455, section 5.2); Infinity while it is not known.
 */
function sizeOf(frame: Buffer): number {
  return frame.length < 2 ? Infinity : 6 + ((frame[1] ?? 0) & 0x7f)
}

function answer(socket: Duplex, frame: Buffer): void {
  const reply = Buffer.alloc(frame.length - 4)
  reply[0] = frame[0] ?? 0
  reply[1] = frame.length - 6
  for (let i = 6; i < frame.length; i++) reply[i - 4] = (frame[i] ?? 0) ^ (frame[2 + ((i - 6) % 4)] ?? 0)
  socket.write(reply)
  if (((frame[0] ?? 0) & 0xf) === CLOSE) socket.end()
}
