/** Servers of the tests, of any protocol. */

import type { AddressInfo, Server, Socket } from 'node:net'
import type { Test } from 'tap'

/**
 * Listens on a port of loopback, by default a free one. Resolves with the port. The server and its
 * connections are closed with the test.
 */
export async function listen(
  t: Pick<Test, 'teardown'>,
  server: Server,
  host = '127.0.0.1',
  port = 0,
): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.on('error', reject).listen(port, host, resolve)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await promise
  return (server.address() as AddressInfo).port
}
