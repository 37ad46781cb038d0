/**
 * One answer by two implementations of HTTP/2 over the same TLS: Seatgate's listener (`own`), or sessions of
 * node:http2 (`node`), whose streams are made into the same request. Arguments: which one, the port,
 * certificate and key.
 */

import { readFileSync } from 'node:fs'
import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import { ClientRequest } from '../../src/http/server/client-request.ts'
import { TlsAcceptor } from '../../src/http/server/tls-acceptor.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import { requestHead, RequestListReader } from '../../src/http/wire/http2/request-list.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { openListener } from '../../test/support/listener.ts'
import { SMALL } from '../answers.ts'

const END_STREAM = 1
const [kind, port, certificate = '', key = ''] = process.argv.slice(2)
const read = (file: string) => readFileSync(file, 'utf8')

const tls = new TlsAcceptor({
  tls: {
    certificates: [{ names: ['localhost'], cert: read(certificate), key: read(key) }],
    minVersion: '1.2',
    ciphers: ['ECDHE-ECDSA-AES128-GCM-SHA256'],
    clientCa: null,
    clientAuth: 'none',
  },
  http2: true,
  secrets: [Buffer.alloc(32)],
})

const FIELDS = ['content-type', 'application/json', 'content-length', `${SMALL.length}`] as const

function openOwn() {
  const fields = ResponseFields.of(FIELDS)
  return openListener(
    (request, response) => {
      response.writeHead(200, fields)
      response.end(SMALL)
      return new Exchange(request, response, 'id', 0)
    },
    {},
    { settings: { tls: [tls] }, port: Number(port) },
  )
}

function openNode() {
  const secured = (socket: Socket) => {
    const session = performServerHandshake(socket)
    session.on('error', () => {})
    session.on('stream', (stream, _headers, flags, raw) => answer(stream, flags, raw))
  }
  createServer((socket) => tls.accept(socket, { secured, failed() {} })).listen(Number(port), '127.0.0.1')
}

function answer(stream: ServerHttp2Stream, flags: number, raw: readonly string[]): void {
  stream.on('error', () => {})
  const head = requestHead(new RequestListReader().read(raw), (flags & END_STREAM) !== 0, Infinity)
  const request = new ClientRequest(head, {
    socket: stream.session?.socket as Socket,
    resume() {},
    pause() {},
    abandon() {},
    heldChanged() {},
  })
  if (!request.complete) return stream.close()
  stream.respond([':status', '200', ...FIELDS])
  stream.end(SMALL)
}

if (kind === 'own') await openOwn()
else openNode()
