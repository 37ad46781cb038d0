/** Upgrade to protocols other than WebSocket: not forwarded, and nothing behind the request is a request. */

import t from 'tap'
import { get, startGateway, post } from './gateway.ts'

const gateway = await startGateway(t)

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00'

for (const [name, headers] of Object.entries({
  h2c: 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
  'h2c without Connection': 'Upgrade: h2c\r\n',
  'TLS within HTTP': 'Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n',
  'HTTP/3': 'Connection: Upgrade\r\nUpgrade: HTTP/3.0\r\n',
  several: 'Connection: Upgrade\r\nUpgrade: h2c, IRC/6.9\r\n',
  'an unknown protocol': 'Connection: upgrade\r\nUpgrade: foo/2\r\n',
  nothing: 'Connection: Upgrade\r\nUpgrade:\r\n',
  'an invalid token': 'Connection: Upgrade\r\nUpgrade: ,;=\r\n',
})) {
  t.test(name, async (t) => {
    for (const bytes of [get(headers), post(`${headers}Content-Length: 4\r\n`, 'abcd')]) {
      const { all, rest, end } = await gateway.send(bytes + get('', '/docs/hidden') + PREFACE)
      t.equal(end, 'closed')
      t.equal(rest, '')
      t.equal(all.length, 1, 'one response, and it is not 101')
      const got = gateway.upstream.requests
      t.ok(got.length <= 1 && got.every(({ target }) => target !== '/docs/hidden'))
      for (const { fields } of got)
        t.notOk(
          fields.some(([each]) => /^(?:upgrade|http2-settings)$/i.test(each)),
          'the upstream receives no Upgrade',
        )
      await gateway.agrees(t)
      gateway.forget()
    }
  })
}

t.test('HTTP/2 with prior knowledge', async (t) => {
  const { all, rest, end } = await gateway.send(PREFACE)
  // In frames of HTTP/2: `test/http2/prior-knowledge.test.ts` reads them as a client does.
  t.match([all, rest, end], [[], /"code":"request_malformed"/, 'closed'])
  t.same(gateway.upstream.requests, [])
  const behind = await gateway.send(`GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n${PREFACE}`)
  t.match(behind, {
    all: [{ status: 200 }, { status: 400, code: 'request_malformed', closes: true }],
    rest: '',
  })
})
