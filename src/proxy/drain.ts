/** What is left of a request after its answer. Used by `forward.ts` and `local.ts`. */

import type { IncomingMessage, ServerResponse } from 'node:http'

/** Milliseconds that the rest of a body may take to arrive once the answer is out. */
const LINGER = 5_000

/**
 * Reads the rest of a body and throws it away, so that exactly the body, and no byte of it as a next request, is
 * consumed; and so that a client that still sends can read its answer: closing at once would reset the connection
 * under it (RFC 9112, section 9.6). A client that isn't done in time loses the connection.
 *
 * @param allowed bytes that may still come
 */
export function drain(request: IncomingMessage, response: ServerResponse, allowed: number): void {
  if (request.complete || request.destroyed) return
  const { socket } = request
  let left = allowed
  let timer: NodeJS.Timeout | null = null
  const cut = () => socket.destroy()
  const linger = () => {
    timer = setTimeout(cut, LINGER)
  }
  const done = () => {
    if (timer !== null) clearTimeout(timer)
    response.off('finish', linger)
    socket.off('close', done)
  }
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) cut()
  })
  request.once('end', done)
  // Not the request's: once it is answered, Node no longer tells it.
  socket.once('close', done)
  if (response.writableFinished) linger()
  else response.once('finish', linger)
}
