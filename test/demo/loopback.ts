/** Servers of the demo, each on a free port of loopback. */

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Serving {
  readonly url: string
  close(): Promise<void>
}

export async function serve(listener: RequestListener): Promise<Serving> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}
