/**
 * The end of a connection whose client may be writing still. Closed with bytes unread, a connection is reset, and the
 * client may never see the answer that it was given last (RFC 9112, section 9.6). Called by the pipeline.
 */

import type { Socket } from 'node:net'

/** Connections that are waited for; of others, it is left to chance whether the answer is seen. */
const MOST = 256
/** Milliseconds, and bytes, that are thrown away for one of them. */
const LINGER = 1000
const MOST_BYTES = 1024 * 1024

let lingering = 0

/**
 * Says `last`, ends our side, and throws away what comes until the client ends its own: none of it is read.
 *
 * @param socket who has read from it was told to stop
 */
export function part(socket: Socket, last = ''): void {
  if (socket.destroyed) return
  socket.removeAllListeners('data')
  if (lingering >= MOST) return void socket.end(last, () => socket.destroy())
  lingering++
  let bytes = 0
  const timer = setTimeout(() => socket.destroy(), LINGER)
  socket.on('data', (chunk) => {
    bytes += chunk.length
    if (bytes > MOST_BYTES) socket.destroy()
  })
  socket.once('end', () => socket.destroy())
  socket.once('close', () => {
    clearTimeout(timer)
    lingering--
  })
  socket.end(last)
  socket.resume()
}
