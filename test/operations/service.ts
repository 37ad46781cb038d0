/** An upstream service in this process, which remembers nothing of the requests. */

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export interface Service {
  readonly url: string
  readonly server: Server
}

/** @param listener left out: 200 with the body `name`, after 10 ms */
export async function startService(t: Test, name: string, listener?: RequestListener): Promise<Service> {
  const server = createServer(
    { keepAliveTimeout: 120_000 },
    listener ??
      ((request, response) => {
        request.resume()
        setTimeout(() => response.end(name), 10)
      }),
  )
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** Answers each request at once with 200 and the body `yes`. */
export const succeed: RequestListener = (request, response) => {
  request.resume()
  response.end('yes')
}
