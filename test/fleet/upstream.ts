/** The upstream of a fleet: answers every request with success. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Returns its URL. Keeps nothing of the requests, so that its memory does not grow. */
export async function startUpstream(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    response.end('yes')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
