/** Lengths that two parsers could read differently: 502, the connection closed, the next request unaffected. */

import t from 'tap'
import {
  BRIEF,
  broken,
  HEAD_REQUEST,
  HostileUpstream,
  onceBegun,
  passes,
  refused,
} from '../hostile/hostile-upstream.ts'

const hostile = await HostileUpstream.start(t)
const silent = await HostileUpstream.start(t, BRIEF)

const sized = (...lines: string[]) => `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\nok`

for (const value of [
  '',
  '+2',
  '-2',
  '0x2',
  '2.0',
  '2e0',
  '1 2',
  '2,2',
  '2;2',
  '"2"',
  '٢',
  '2\x00',
  'two',
  '9007199254740993',
  '18446744073709551618',
]) {
  t.test(`Content-Length: ${JSON.stringify(value)}`, async (t) => {
    const packets = Buffer.from(sized(`Content-Length: ${value}`)).toString('latin1')
    await refused(t, hostile, value, { packets })
  })
}

for (const [name, ...lines] of [
  ['two lengths', 'Content-Length: 2', 'Content-Length: 3'],
  ['two equal ones', 'Content-Length: 2', 'Content-Length: 2'],
  ['with different case', 'Content-Length: 2', 'content-length: 3'],
  ['a length and chunks', 'Content-Length: 2', 'Transfer-Encoding: chunked'],
  ['chunks and a length', 'Transfer-Encoding: chunked', 'Content-Length: 2'],
  ['a length and a coding', 'Content-Length: 2', 'Transfer-Encoding: gzip'],
] as const) {
  t.test(name, (t) => refused(t, hostile, name, { packets: sized(...lines) }))
}

for (const coding of [
  '',
  'identity',
  'gzip',
  'xchunked',
  'chunked;q=1',
  ',chunked',
  'chunked,',
  'chunked, chunked',
  'chunked, identity',
  'gzip, chunked',
  '\x0bchunked',
  '"chunked"',
]) {
  t.test(`Transfer-Encoding: ${JSON.stringify(coding)}`, async (t) => {
    const head = `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n`
    await refused(t, hostile, coding, { packets: `${head}2\r\nok\r\n0\r\n\r\n` })
  })
}

t.test('Transfer-Encoding in two lines', async (t) => {
  const lines = 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'
  await refused(t, hostile, 'two lines', {
    packets: `HTTP/1.1 200 OK\r\n${lines}\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  })
})

for (const [name, after, upstream] of [
  ['closed before the end', onceBegun((socket) => socket.end()), hostile],
  ['reset before the end', onceBegun((socket) => socket.resetAndDestroy()), hostile],
  ['silent before the end', () => {}, silent],
] as const) {
  t.test(name, async (t) => {
    const { text } = await broken(t, upstream, name, { packets: sized('Content-Length: 3'), after })
    t.ok(text.endsWith('\r\n\r\nok'), 'bytes already forwarded stay')
  })
}

for (const [name, packets, method] of [
  ['a response to HEAD with a body', sized('Content-Length: 2'), 'HEAD'],
  ['204 with a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok', 'GET'],
  [
    '204 in chunks',
    'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    'GET',
  ],
  ['304 with a body', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok', 'GET'],
  ['bytes beyond the length', `${sized('Content-Length: 2')} and more`, 'GET'],
  ['a second response', sized('Content-Length: 2').repeat(2), 'GET'],
  ['half of a second response', `${sized('Content-Length: 2')}HTTP/1.1 200 OK\r\nX-A: a`, 'GET'],
] as const) {
  t.test(`${name}: no client receives the rest`, async (t) => {
    // A response with its length is whole before the bytes behind it arrive.
    const body = packets.startsWith('HTTP/1.1 200') && method === 'GET' ? 'ok' : ''
    await passes(t, hostile, name, { packets }, body, false, method === 'HEAD' ? HEAD_REQUEST : undefined)
  })
}
