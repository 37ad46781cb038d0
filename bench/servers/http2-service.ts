/**
 * A service of HTTP/2 without TLS (h2c), on Node.js: answers at once, below `/v1/shared/slow` after ten
 * seconds.
 */

import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'

const SLOW = 10_000

function answer(stream: ServerHttp2Stream, { ':path': path }: IncomingHttpHeaders): void {
  stream.on('error', () => {})
  stream.resume()
  const respond = () => {
    if (stream.destroyed) return
    stream.respond({ 'content-length': 2 })
    stream.end('ok')
  }
  if (path === '/v1/shared/slow') setTimeout(respond, SLOW)
  else respond()
}

createServer().on('stream', answer).listen(Number(process.argv[2]), '127.0.0.1')
