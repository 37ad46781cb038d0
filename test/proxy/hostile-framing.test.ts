/** Double or malformed framing, and excess bytes: they never become the next response. */

import t from 'tap'
import { broken, HEAD_REQUEST, HostileUpstream, passes, refused } from '../hostile/hostile-upstream.ts'

const hostile = await HostileUpstream.start(t)

const answer = (lines: string, body: string) => `HTTP/1.1 200 OK\r\n${lines}\r\n\r\n${body}`
const CHUNKS = '4\r\nbody\r\n0\r\n\r\n'
const EVIL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'

t.test('lengths', async (t) => {
  const values = [
    '4, 4',
    '4,4',
    '4, 5',
    ',4',
    '4,',
    '+4',
    '-4',
    '-0',
    '0x4',
    '4.',
    '4.0',
    '4e0',
    '0_4',
    '4 4',
    '4;',
    '"4"',
    '\u00b2',
    '',
  ]
  for (const value of [
    ...values,
    '9007199254740992',
    '9007199254740993',
    '9223372036854775808',
    '18446744073709551620',
    '9'.repeat(400),
  ])
    await broken(t, hostile, JSON.stringify(value), { packets: answer(`Content-Length: ${value}`, 'body') })
  for (const lines of [
    'Content-Length: 4\r\nContent-Length: 4',
    'Content-Length: 4\r\nContent-Length: 2',
    'Content-Length: 2\r\ncontent-LENGTH: 4',
    'Content-Length: 0\r\nX-A: a\r\nContent-Length: 4',
  ])
    await refused(t, hostile, lines, { packets: answer(lines, 'body') })
  for (const name of [
    'Content-Length ',
    'Content-Length\t',
    ' Content-Length',
    'Content Length',
    'Content-Length\x00',
  ])
    await refused(t, hostile, name, { packets: answer(`${name}: 4`, 'body') })
  for (const value of ['4', '0004', ' 4 ', '\t4\t'])
    await passes(
      t,
      hostile,
      JSON.stringify(value),
      { packets: answer(`Content-Length:${value}`, 'body') },
      'body',
      true,
    )
})

t.test('codings', async (t) => {
  const values = [
    '',
    'identity',
    'gzip',
    'deflate, chunked',
    'chunked, gzip',
    'chunked, chunked',
    'chunked, identity',
    ', chunked',
    'chunked,',
    'chunked;a=b',
    'xchunked',
    'chunkedx',
    '"chunked"',
    'chunked\x00',
    '\x0bchunked',
    'chun\tked',
  ]
  for (const value of values)
    await refused(t, hostile, JSON.stringify(value), {
      packets: answer(`Transfer-Encoding: ${value}`, CHUNKS),
    })
  for (const lines of [
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 4',
    'Content-Length: 14\r\nTransfer-Encoding: chunked',
    'Content-Length: 0\r\nTransfer-Encoding: chunked',
    'Content-Length: 4\r\nTransfer-Encoding: identity',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding:\r\n chunked',
    'X-A: a\r\n Transfer-Encoding: chunked',
  ])
    await refused(t, hostile, lines, { packets: answer(lines, CHUNKS) })
  for (const value of ['chunked', 'Chunked', ' CHUNKED'])
    await passes(t, hostile, value, { packets: answer(`Transfer-Encoding: ${value}`, CHUNKS) }, 'body', true)
})

t.test('chunks in HTTP/1.0 are not decoded', async (t) => {
  const packets = `HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`
  await broken(t, hostile, 'HTTP/1.0', {
    packets: packets.slice(0, -5),
    after: (socket) => void socket.end(),
  })
})

t.test('bytes after the response', async (t) => {
  const sized = answer('Content-Length: 4', 'body')
  const inChunks = answer('Transfer-Encoding: chunked', CHUNKS)
  for (const whole of [sized, inChunks])
    for (const extra of [
      'x',
      '\r\n',
      '\n',
      '\0',
      EVIL,
      `\r\n${EVIL}`,
      'HTTP/1.1 100 Continue\r\n\r\n',
      '0\r\n\r\n',
      EVIL.slice(0, 20),
    ])
      for (const packets of [whole + extra, [whole, extra], [...whole, extra]])
        await passes(t, hostile, JSON.stringify(extra), { packets }, 'body', false)
})

t.test('a body where none is permitted', async (t) => {
  for (const body of ['body', EVIL, CHUNKS]) {
    const lines = `Content-Length: ${body.length}`
    await passes(t, hostile, 'HEAD', { packets: answer(lines, body) }, '', false, HEAD_REQUEST)
    await passes(t, hostile, 'HEAD, apart', { packets: [answer(lines, ''), body] }, '', false, HEAD_REQUEST)
    for (const status of ['204 No Content', '304 Not Modified', '204 X', '304 X']) {
      const packets = `HTTP/1.1 ${status}\r\n${lines}\r\n\r\n${body}`
      await passes(t, hostile, status, { packets }, '', false)
    }
  }
  const chunked = { packets: answer('Transfer-Encoding: chunked', CHUNKS) }
  await passes(t, hostile, 'HEAD in chunks', chunked, '', false, HEAD_REQUEST)
})

t.test('the length of a response to HEAD, and of 304, describes another response', async (t) => {
  await passes(t, hostile, 'HEAD', { packets: answer('Content-Length: 4000', '') }, '', true, HEAD_REQUEST)
  await passes(t, hostile, '304', { packets: 'HTTP/1.1 304 X\r\nContent-Length: 4000\r\n\r\n' }, '', true)
  const { all } = await hostile.play({ packets: answer('Content-Length: 4000', '') }, HEAD_REQUEST)
  t.equal(all[0]?.fields.find(([name]) => name === 'content-length')?.[1], '4000')
})
