/** A call of gRPC that was refused, or answered with another message, stops the bench: its HTTP status is 200. */

import { once } from 'node:events'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { checkCall } from '../../bench/grpc-call.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'

const MESSAGE = Buffer.from('message')
const request = { method: 'POST', path: '/a', headers: ['Space: s1'], body: '' }

async function serve(t: Test, status: string, body: Buffer): Promise<number> {
  const answer = (stream: ServerHttp2Stream) => {
    stream.resume()
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }))
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.end(body)
  }
  const server = createSecureServer(CERTIFICATES.server).on('stream', answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('answered', async (t) => checkCall(await serve(t, '0', MESSAGE), request, MESSAGE))

t.test('refused', async (t) => {
  await t.rejects(checkCall(await serve(t, '16', MESSAGE), request, MESSAGE), /grpc-status 16/)
})

t.test('another message', async (t) => {
  await t.rejects(checkCall(await serve(t, '0', Buffer.from('other')), request, MESSAGE), /a call/)
})
