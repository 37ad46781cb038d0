/** Malformed status lines: 502, the connection closed, the next request unaffected. */

import t from 'tap'
import { broken, harmless, HostileUpstream, onceBegun, passes, refused } from '../hostile/hostile-upstream.ts'

const hostile = await HostileUpstream.start(t)

const REST = '\r\nContent-Length: 2\r\n\r\nok'

for (const [name, line] of Object.entries({
  'no version': 'HTTP 200 OK',
  'half a version': 'HTTP/1 200 OK',
  'a version of two digits': 'HTTP/1.10 200 OK',
  'an unknown version': 'HTTP/1.2 200 OK',
  'small letters': 'http/1.1 200 OK',
  'another protocol': 'ICY 200 OK',
  'a space first': ' HTTP/1.1 200 OK',
  'a byte order mark first': '\xef\xbb\xbfHTTP/1.1 200 OK',
  'two spaces': 'HTTP/1.1  200 OK',
  'a tab': 'HTTP/1.1\t200 OK',
  'a status of one digit': 'HTTP/1.1 2 OK',
  'a status of four digits': 'HTTP/1.1 2000 OK',
  'a status below zero': 'HTTP/1.1 -200 OK',
  'a status in hexadecimal': 'HTTP/1.1 0xc8 OK',
  'status 0': 'HTTP/1.1 000 OK',
  'status 99': 'HTTP/1.1 099 OK',
  'a field in the phrase': 'HTTP/1.1 200 OK\rX-A: a',
  'two status lines': 'HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK',
  'a request': 'GET / HTTP/1.1',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'frames of HTTP/2': '\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64',
})) {
  t.test(name, (t) => refused(t, hostile, name, { packets: line + REST }))
}

for (const [name, packets] of Object.entries({
  'LF for line ends': 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
  'LF behind the status line': 'HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok',
  'CR for line ends': 'HTTP/1.1 200 OK\rContent-Length: 2\r\rok',
})) {
  t.test(name, (t) => refused(t, hostile, name, { packets }))
}

for (const phrase of ['O\x01K', 'O\x00K', 'K\xf6nnte', '']) {
  t.test(`the phrase ${JSON.stringify(phrase)} is replaced, and has no effect`, async (t) => {
    const packets = `HTTP/1.1 200 ${phrase}${REST}`
    const { text } = await passes(t, hostile, 'the phrase', { packets }, 'ok', true)
    t.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  })
}

t.test('an unsolicited 100 Continue is not the response', async (t) => {
  const packets = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK${REST}`
  const { text } = await hostile.play({ packets })
  t.match(text, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/)
})

for (const version of ['HTTP/0.9', 'HTTP/2.0', 'HTTP/1.0', 'RTSP/1.0']) {
  t.test(`${version}: the connection is not reused`, async (t) => {
    await hostile.play({ packets: `${version} 200 OK${REST}` })
    await harmless(t, hostile, version)
  })
  t.test(`${version} without a length, and reset: not complete`, async (t) => {
    const after = onceBegun((socket) => socket.resetAndDestroy())
    await broken(t, hostile, version, { packets: `${version} 200 OK\r\nX-A: a\r\n\r\nok`, after })
  })
}
