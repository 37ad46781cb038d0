/**
 * CVE-2026-29057 (Next.js rewrites, http-proxy), and http-proxy-3: a chunked DELETE or OPTIONS was forwarded with
 * Content-Length: 0 and its body after it, so that the upstream read the body as a second request.
 */

import t from 'tap'
import { front, serve } from './support.ts'
import { roundTrip } from '../support/raw-client.ts'

const SMUGGLED = 'GET /admin HTTP/1.1\r\nHost: x\r\nX-Seatgate-User: root\r\n\r\n'

for (const method of ['DELETE', 'OPTIONS', 'GET', 'TRACE', 'POST', 'PATCH', 'PURGE']) {
  t.test(`${method} is one request, with its body`, async (t) => {
    const seen: string[] = []
    const port = await serve(t, async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      seen.push(`${request.method} ${request.url} ${body}`)
      response.end('ok')
    })
    const { port: gatewayPort } = await front(t, port)
    const half = SMUGGLED.length >> 1
    const chunks = [SMUGGLED.slice(0, half), SMUGGLED.slice(half)]
      .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
      .join('')
    const answer = await roundTrip(
      gatewayPort,
      `${method} /one HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunks}0\r\n\r\n`,
    )
    t.match(answer, /^HTTP\/1\.1 200 /)
    const sized = await roundTrip(
      gatewayPort,
      `${method} /two HTTP/1.1\r\nHost: gw\r\nContent-Length: ${SMUGGLED.length}\r\nConnection: close\r\n\r\n${SMUGGLED}`,
    )
    t.match(sized, /^HTTP\/1\.1 200 /)
    t.same(seen, [`${method} /one ${SMUGGLED}`, `${method} /two ${SMUGGLED}`])
  })
}

t.test('an empty chunked body is no body', async (t) => {
  const seen: string[] = []
  const port = await serve(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push(`${request.method} ${request.url} ${body}`)
    response.end('ok')
  })
  const { port: gatewayPort } = await front(t, port)
  for (const method of ['DELETE', 'POST'])
    await roundTrip(
      gatewayPort,
      `${method} / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`,
    )
  t.same(seen, ['DELETE / ', 'POST / '])
})
