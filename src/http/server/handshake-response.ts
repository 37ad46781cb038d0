/** The single HTTP response to a handshake, on a connection that leaves HTTP. */

import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import { Http1Response } from './http1-response.ts'

/** The end of the response closes the connection; after a 101, the end of the connection ends the response. */
export function handshakeResponse(request: ClientRequest): ClientResponse {
  const { socket } = request
  const response = new Http1Response(request, {
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
  // A client that ends its side before the response is complete does not want it. After a 101 the frames decide.
  socket.on('end', () => {
    if (response.statusCode !== 101 && !response.ended) socket.destroy()
  })
  // The client ended its side together with the handshake; that event came before this listener.
  if (socket.readableEnded) response.destroy()
  return response
}
