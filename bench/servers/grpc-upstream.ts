/**
 * An upstream that answers gRPC-like unary calls over HTTP/2 without TLS (h2c): the message back, then
 * `grpc-status: 0`.
 */

import { createServer, type ServerHttp2Stream } from 'node:http2'

function answer(stream: ServerHttp2Stream): void {
  const parts: Buffer[] = []
  stream.on('error', () => {})
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.end(Buffer.concat(parts))
  })
}

createServer().on('stream', answer).listen(Number(process.argv[2]), '127.0.0.1')
