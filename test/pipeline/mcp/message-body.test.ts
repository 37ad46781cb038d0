/** A message that waits to be forwarded counts with all the memory that it takes. */

import t from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { readMessageBody } from '../../../src/pipeline/mcp/message-body.ts'
import { openListener } from '../../support/listener.ts'
import { RawClient } from '../../support/raw-client.ts'

const LIMITS = { bytes: 1024 * 1024, time: 60_000 }
const SENT = 300_001

for (const [what, head, body] of [
  ['of an announced length', `Content-Length: ${SENT}`, 'a'.repeat(SENT)],
  ['in chunks', 'Transfer-Encoding: chunked', `${SENT.toString(16)}\r\n${'a'.repeat(SENT)}\r\n0\r\n\r\n`],
] as const)
  t.test(`a message ${what}`, async (t) => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<Exchange>()
    const listener = await openListener((request, response) => {
      const exchange = new Exchange(request, response, 'id', 0)
      begin(exchange)
      return exchange
    })
    t.teardown(() => listener.close(0))
    const wire = new RawClient(listener.address.port)
    t.teardown(() => wire.close())
    wire.send(`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n${body}`)
    const exchange = await begun
    const { request } = exchange
    const bytes = await readMessageBody(exchange, LIMITS)
    if (!Buffer.isBuffer(bytes)) throw new Error('refused')
    t.equal(bytes.length, SENT)
    t.ok(bytes.buffer.byteLength <= request.heldBytes, `${bytes.buffer.byteLength} bytes while it is parsed`)
    request.restore(bytes)
    t.ok(bytes.buffer.byteLength <= request.heldBytes, `${bytes.buffer.byteLength} bytes`)
    t.ok(listener.memory >= request.heldBytes)
  })
