/** Oversized responses are bounded and refused, without delaying others. */

import type { Socket } from 'node:net'
import t from 'tap'
import { broken, HostileUpstream, passes, refused } from '../hostile/hostile-upstream.ts'

const hostile = await HostileUpstream.start(t)

const around = (lines: string) => `HTTP/1.1 200 OK\r\n${lines}Content-Length: 4\r\n\r\nbody`
const chunks = (bytes: string) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${bytes}`

/** Keeps writing the same as fast as it is read, and yields between writes. */
const flood = (bytes: string) => (socket: Socket) => {
  const piece = bytes.repeat(Math.ceil(16_384 / bytes.length))
  const more = () => {
    if (socket.writable && socket.write(piece)) setImmediate(more)
  }
  socket.on('drain', more)
  more()
}

t.test('header sections', async (t) => {
  await passes(t, hostile, '1500 fields', { packets: around('A: b\r\n'.repeat(1500)) }, 'body', true)
  await passes(
    t,
    hostile,
    'a value of 40,000',
    { packets: around(`X-A: ${'a'.repeat(40_000)}\r\n`) },
    'body',
    true,
  )
  for (const [name, lines] of Object.entries({
    '10,000 fields': 'A: b\r\n'.repeat(10_000),
    '10,000 fields of nothing': 'A:\r\n'.repeat(10_000),
    'a value of 100,000': `X-A: ${'a'.repeat(100_000)}\r\n`,
    'a name of 100,000': `${'a'.repeat(100_000)}: a\r\n`,
    'a megabyte': `X-A: ${'a'.repeat(1000)}\r\n`.repeat(1000),
  }))
    await refused(t, hostile, name, { packets: around(lines) })
})

t.test('endless header sections', async (t) => {
  await refused(t, hostile, 'lines', {
    packets: 'HTTP/1.1 200 OK\r\n',
    after: flood('X-A: aaaaaaaaaaaaaaaa\r\n'),
  })
  await refused(t, hostile, 'a value', {
    packets: 'HTTP/1.1 200 OK\r\nX-A: ',
    after: flood('a'.repeat(1000)),
  })
  await refused(t, hostile, 'a name', { packets: 'HTTP/1.1 200 OK\r\n', after: flood('a'.repeat(1000)) })
  await refused(t, hostile, 'a phrase', { packets: 'HTTP/1.1 200 ', after: flood('a'.repeat(1000)) })
  await refused(t, hostile, 'white space', {
    packets: 'HTTP/1.1 200 OK\r\nX-A:',
    after: flood(' '.repeat(1000)),
  })
  await refused(t, hostile, 'an interim answer', {
    packets: 'HTTP/1.1 103 X\r\n',
    after: flood('X-A: aaaaaaaa\r\n'),
  })
})

t.test('chunks', async (t) => {
  const single = chunks(`${'1\r\na\r\n'.repeat(20_000)}0\r\n\r\n`)
  await passes(t, hostile, 'of one byte each', { packets: single }, 'a'.repeat(20_000), true)
  for (const [name, bytes] of Object.entries({
    'a size of 20 digits': '10000000000000000004\r\nbody\r\n0\r\n\r\n',
    'a size of 17 digits': '10000000000000004\r\nbody\r\n0\r\n\r\n',
    'an extension of 100,000': `4;${'a'.repeat(100_000)}\r\nbody\r\n0\r\n\r\n`,
    'trailers of 100,000': `4\r\nbody\r\n0\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`,
    '10,000 trailers': `4\r\nbody\r\n0\r\n${'A: b\r\n'.repeat(10_000)}\r\n`,
  }))
    await broken(t, hostile, name, { packets: chunks(bytes) })
  await broken(t, hostile, 'zeros without end', { packets: chunks(''), after: flood('0'.repeat(1000)) })
  await broken(t, hostile, 'an extension without end', {
    packets: chunks('4;'),
    after: flood('a'.repeat(1000)),
  })
  await broken(t, hostile, 'trailers without end', {
    packets: chunks('0\r\n'),
    after: flood('X-A: aaaaaaaa\r\n'),
  })
})

t.test('endless interim responses meet the response timeout', async (t) => {
  const hostile = await HostileUpstream.start(t, { response: '200ms' })
  const { all } = await hostile.play({ packets: '', after: flood('HTTP/1.1 103 X\r\nX-A: a\r\n\r\n') })
  t.match(all, [{ status: 504, code: 'upstream_timeout' }])
  t.ok(await hostile.dropped())
  t.ok(await hostile.nextRequestsWork())
})

t.test('an endless body beyond its length', async (t) => {
  await passes(t, hostile, 'a length', { packets: around(''), after: flood('x'.repeat(1000)) }, 'body', false)
  await passes(
    t,
    hostile,
    'chunks',
    { packets: chunks('4\r\nbody\r\n0\r\n\r\n'), after: flood('x'.repeat(1000)) },
    'body',
    false,
  )
})
