/** Upgrade to anything but a WebSocket: not asked of the upstream, and nothing behind it is a request. */

import t from 'tap'
import { get, openDoor, post } from './door.ts'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00'

for (const [name, headers] of Object.entries({
  h2c: 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
  'h2c without Connection': 'Upgrade: h2c\r\n',
  'TLS within HTTP': 'Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n',
  'HTTP/3': 'Connection: Upgrade\r\nUpgrade: HTTP/3.0\r\n',
  several: 'Connection: Upgrade\r\nUpgrade: h2c, IRC/6.9\r\n',
  'a protocol nobody knows': 'Connection: upgrade\r\nUpgrade: foo/2\r\n',
  nothing: 'Connection: Upgrade\r\nUpgrade:\r\n',
  'what is no token': 'Connection: Upgrade\r\nUpgrade: ,;=\r\n',
})) {
  t.test(name, async (t) => {
    const door = await openDoor(t)
    for (const bytes of [get(headers), post(`${headers}Content-Length: 4\r\n`, 'abcd')]) {
      const { all, rest, end } = await door.send(bytes + get('', '/docs/hidden') + PREFACE)
      t.equal(end, 'closed')
      t.equal(rest, '')
      t.equal(all.length, 1, 'one answer, and it is no 101')
      const got = door.upstream.requests
      t.ok(got.length <= 1 && got.every(({ target }) => target !== '/docs/hidden'))
      for (const { fields } of got)
        t.notOk(
          fields.some(([each]) => /^(?:upgrade|http2-settings)$/i.test(each)),
          'nobody asks the upstream',
        )
      await door.agrees(t)
      door.forget()
    }
  })
}

t.test('HTTP/2 without asking', async (t) => {
  const door = await openDoor(t)
  const { all, end } = await door.send(PREFACE)
  t.match([all, end], [[{ status: 400, code: 'request_malformed', closes: true }], 'closed'])
  t.same(door.upstream.requests, [])
})
