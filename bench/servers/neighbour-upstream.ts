/**
 * An upstream that tenants share: over HTTP/1.1, and over HTTP/2 without TLS. Paths that end in `/events` are
 * streams of events; over HTTP/2, nothing of a body is read whose path ends in `/unread`. All others get a
 * short answer.
 */

import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { serveReadWindows } from '../../test/support/read-window-server.ts'

const [, , port = '0', http2Port = '0'] = process.argv

createServer((request, response) => {
  if (request.url?.endsWith('/events') !== true)
    return void request.resume().on('end', () => response.end('{"ok":true}'))
  response.setHeader('content-type', 'text/event-stream')
  response.write('data: 1\n\n')
}).listen({ host: '127.0.0.1', port: Number(port), backlog: 4096 })

createTcpServer({ noDelay: true }, serveReadWindows).listen(Number(http2Port), '127.0.0.1')
