// A service behind the gateway, for trying it out: it answers each request with what it received.

import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.resume()
  const { method, url, headers } = request
  response.setHeader('content-type', 'application/json')
  response.end(`${JSON.stringify({ method, path: url, user: headers['x-seatgate-user'] ?? null })}\n`)
})
// Longer than the gateway keeps a connection: it would reuse one that is just being closed.
server.keepAliveTimeout = 120_000
server.listen(9001)
process.on('SIGTERM', () => server.close(() => process.exit(0)))
