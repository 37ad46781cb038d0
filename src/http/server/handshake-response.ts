/** HTTP on a connection that leaves it, for the one answer that a handshake gets. */

import type { ClientRequest } from './client-request.ts'
import { ClientResponse } from './client-response.ts'

/** When the answer is out, the connection ends; after a 101, its end is the end of the response. */
export function handshakeResponse(request: ClientRequest): ClientResponse {
  const { socket } = request
  const response = new ClientResponse(request, {
    socket,
    keepAliveSeconds: 0,
    backpressure: () => {},
    flushed: () => {
      if (socket.destroyed) return
      response.finish(true)
      socket.destroySoon()
    },
  })
  response.shouldKeepAlive = false
  socket.on('drain', () => response.drained())
  socket.on('close', () => {
    if (!response.writableFinished) response.finish(false)
  })
  // A client that ends its side before its answer is whole has no use for it. After a 101 the frames say what it means.
  socket.on('end', () => {
    if (response.statusCode !== 101 && !response.ended) socket.destroy()
  })
  // It did so behind the handshake, and that was heard before this one was read.
  if (socket.readableEnded) response.destroy()
  return response
}
