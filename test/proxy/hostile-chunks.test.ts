/** Malformed chunks after the response has begun: it is cut, and the next request is unaffected. */

import t from 'tap'
import { cut, nextRequestsWork, hostile, onceBegun } from './support.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
/** The upstream is to say nothing for this long. */
const SILENCE = { bodyTimeout: 50 }

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
    const hostility = await hostile(t, HEAD + chunks)
    cut(t, hostility)
    t.notMatch(hostility.first, 'EVIL')
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
    t.test(`${end} ${name}`, async (t) => {
      cut(
        t,
        await hostile(
          t,
          HEAD + chunks,
          onceBegun((socket) => socket[end]()),
        ),
      )
    })
  }
  t.test(`silence ${name}`, async (t) => {
    cut(t, await hostile(t, HEAD + chunks, () => {}, SILENCE))
  })
}

t.test('more trailers than clients read: the response does not end either', async (t) => {
  const { first, next, exchange } = await hostile(t, `${HEAD}2\r\nok\r\n0\r\n${'A: b\r\n'.repeat(2001)}\r\n`)
  t.notMatch(first, '\r\n0\r\n')
  t.equal(exchange?.refusal?.code, 'upstream_protocol_error')
  t.ok(next.endsWith('\r\n\r\ngood'))
})

t.test('an endless extension (CVE-2024-22019) is silence', async (t) => {
  const flood = (socket: import('node:net').Socket) => {
    const timer = setInterval(() => socket.write('a'.repeat(100)), 10)
    socket.on('close', () => clearInterval(timer))
  }
  cut(t, await hostile(t, `${HEAD}2;a`, flood, SILENCE))
})

t.test('a response after the last chunk is dropped', async (t) => {
  const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'
  const { first, next, connections } = await hostile(t, `${HEAD}2\r\nok\r\n0\r\n\r\n${evil}`)
  t.ok(first.endsWith('2\r\nok\r\n0\r\n\r\n'))
  nextRequestsWork(t, next, connections)
})

for (const [name, chunks] of Object.entries({
  'extensions are dropped': '2;a=b;c="d"\r\nok\r\n0;e\r\n\r\n',
  'leading zeros of a size are permitted': '0002\r\nok\r\n000\r\n\r\n',
  'framing fields in trailers are dropped': '2\r\nok\r\n0\r\nTransfer-Encoding: chunked\r\nHost: a\r\n\r\n',
})) {
  t.test(name, async (t) => {
    const { first, exchange } = await hostile(t, HEAD + chunks)
    t.ok(first.endsWith('\r\n\r\n2\r\nok\r\n0\r\n\r\n'))
    t.equal(exchange?.refusal, null)
  })
}
