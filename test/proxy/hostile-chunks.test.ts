/** Malformed chunks after the response has begun: it is cut, and the next request is unaffected. */

import t from 'tap'
import { BRIEF, broken, HostileUpstream, onceBegun, passes } from '../hostile/hostile-upstream.ts'

const hostile = await HostileUpstream.start(t)
const silent = await HostileUpstream.start(t, BRIEF)

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

for (const [name, chunks] of Object.entries({
  'no size': '\r\nok\r\n0\r\n\r\n',
  'a sign': '+2\r\nok\r\n0\r\n\r\n',
  'a size below zero': '-2\r\nok\r\n0\r\n\r\n',
  'a size with 0x': '0x2\r\nok\r\n0\r\n\r\n',
  'a space before the size': ' 2\r\nok\r\n0\r\n\r\n',
  'a space behind the size': '2 \r\nok\r\n0\r\n\r\n',
  'a size beyond any number': '10000000000000002\r\nok\r\n0\r\n\r\n',
  'LF behind the size': '2\nok\r\n0\r\n\r\n',
  'CR behind the size': '2\rok\r\n0\r\n\r\n',
  'LF in an extension': '2;a\nb\r\nok\r\n0\r\n\r\n',
  'a control byte in an extension': '2;a\x01\r\nok\r\n0\r\n\r\n',
  'no line end behind the data': '2\r\nok0\r\n\r\n',
  'LF behind the data': '2\r\nok\n0\r\n\r\n',
  'more data than the size': '2\r\nokay\r\n0\r\n\r\n',
  'a response in place of a chunk': '2\r\nok\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL',
  'a space in a trailer': '2\r\nok\r\n0\r\nX A: a\r\n\r\n',
  'a folded trailer': '2\r\nok\r\n0\r\nX-A: a\r\n b\r\n\r\n',
  'a length among the trailers': '2\r\nok\r\n0\r\nContent-Length: 4\r\n\r\nEVIL',
  'trailers beyond the limit': `2\r\nok\r\n0\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`,
  'LF behind the last chunk': '2\r\nok\r\n0\n\n',
})) {
  t.test(name, async (t) => {
    const { text } = await broken(t, hostile, name, { packets: HEAD + chunks })
    t.notMatch(text, 'EVIL')
  })
}

for (const [name, chunks] of Object.entries({
  'in the size': '2',
  'in the data': '4\r\nok',
  'behind the data': '2\r\nok',
  'behind a chunk': '2\r\nok\r\n',
  'in the last chunk': '2\r\nok\r\n0\r\n',
  'in the trailers': '2\r\nok\r\n0\r\nX-A: a\r\n',
})) {
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const after = onceBegun((socket) => socket[end]())
    t.test(
      `${end} ${name}`,
      async (t) => void (await broken(t, hostile, name, { packets: HEAD + chunks, after })),
    )
  }
  t.test(`silence ${name}`, async (t) => void (await broken(t, silent, name, { packets: HEAD + chunks })))
}

t.test('more trailers than clients read: the response does not end either', async (t) => {
  const packets = `${HEAD}2\r\nok\r\n0\r\n${'A: b\r\n'.repeat(2001)}\r\n`
  const exchange = await broken(t, hostile, 'trailers', { packets })
  t.equal((await hostile.logged(exchange)).code, 'upstream_protocol_error')
})

t.test('an endless extension (CVE-2024-22019) is silence', async (t) => {
  const flood = (socket: import('node:net').Socket) => {
    const timer = setInterval(() => socket.write('a'.repeat(100)), 10)
    socket.on('close', () => clearInterval(timer))
  }
  await broken(t, silent, 'an extension', { packets: `${HEAD}2;a`, after: flood })
})

t.test('a response after the last chunk is dropped', async (t) => {
  const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'
  const packets = `${HEAD}2\r\nok\r\n0\r\n\r\n${evil}`
  const { text } = await passes(t, hostile, 'the first response', { packets }, 'ok', false)
  t.ok(text.endsWith('2\r\nok\r\n0\r\n\r\n'))
})

for (const [name, chunks] of Object.entries({
  'extensions are dropped': '2;a=b;c="d"\r\nok\r\n0;e\r\n\r\n',
  'leading zeros of a size are permitted': '0002\r\nok\r\n000\r\n\r\n',
  'framing fields in trailers are dropped': '2\r\nok\r\n0\r\nTransfer-Encoding: chunked\r\nHost: a\r\n\r\n',
})) {
  t.test(name, async (t) => {
    const exchange = await hostile.play({ packets: HEAD + chunks })
    t.ok(exchange.text.endsWith('\r\n\r\n2\r\nok\r\n0\r\n\r\n'))
    t.equal((await hostile.logged(exchange)).code, 'allow')
  })
}
