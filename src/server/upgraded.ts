/** HTTP on a connection that Node's server has let go of, for the one answer that a handshake gets. Called by the pipeline. */

import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A response as Node's server would make it. When it is out, the connection ends. */
export function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
  // Node no longer listens for errors. Each is followed by the end of the connection, which is told to the response.
  socket.on('error', () => {})
  // Whoever ends its side before it has an answer has no use for one.
  socket.on('end', () => {
    if (!response.headersSent) socket.destroySoon()
  })
  return response
}
