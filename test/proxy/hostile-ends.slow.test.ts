/**
 * Connections that end or stall at the wrong time: no partial response is read as complete, and no request waits for
 * ever.
 */

import type { Socket } from 'node:net'
import t from 'tap'
import { BRIEF, broken, HostileUpstream, harmless, passes } from '../hostile/hostile-upstream.ts'

const hostile = await HostileUpstream.start(t)
const silent = await HostileUpstream.start(t, BRIEF)
const unanswering = await HostileUpstream.start(t, { response: '200ms' })

const fin = (socket: Socket) => void socket.end()
const rst = (socket: Socket) => void socket.resetAndDestroy()
const sized = (length: number, body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${body}`

t.test('a body that ends with its connection', async (t) => {
  for (const [name, head] of Object.entries({
    'without a length': 'HTTP/1.1 200 OK\r\n\r\n',
    'with Connection: close': 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n',
    'HTTP/1.0': 'HTTP/1.0 200 OK\r\n\r\n',
  })) {
    await passes(t, hostile, name, { packets: `${head}body`, after: fin }, 'body', false)
    await passes(t, hostile, `${name}, in pieces`, { packets: [head, 'bo', 'dy'], after: fin }, 'body', false)
    await passes(t, hostile, `${name}, empty`, { packets: head, after: fin }, '', false)
    await broken(t, hostile, `${name}, reset`, { packets: `${head}body`, after: rst })
    await broken(t, silent, `${name}, silent`, { packets: `${head}body` })
  }
})

const ENDS = [
  ['FIN', fin, hostile],
  ['RST', rst, hostile],
  ['silence', () => {}, silent],
] as const

t.test('a partial body, and then', async (t) => {
  for (const [name, after, hostile] of ENDS) {
    await broken(t, hostile, `${name} before the first byte`, { packets: sized(4, ''), after })
    await broken(t, hostile, `${name} before the last`, { packets: sized(4, 'bod'), after })
    await broken(t, hostile, `${name} in a chunk`, {
      packets: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbo',
      after,
    })
    await broken(t, hostile, `${name} before the last chunk`, {
      packets: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n',
      after,
    })
  }
})

t.test('HTTP/1.0 clients detect it too', async (t) => {
  const request = 'GET /evil HTTP/1.0\r\nHost: a\r\n\r\n'
  for (const [name, after, hostile] of ENDS) {
    for (const packets of [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n',
      sized(9, 'body'),
    ]) {
      const { end, text } = await hostile.play({ packets, after }, request)
      t.ok(end === 'reset' || / 502 /.test(text), `${name}: a plain end would look like the end of the body`)
      await harmless(t, hostile, name)
    }
  }
})

t.test('no response at all', async (t) => {
  const protocol = { status: 502, code: 'upstream_protocol_error' }
  const timeout = { status: 504, code: 'upstream_timeout' }
  for (const [name, after, upstream, expected] of [
    ['FIN', fin, hostile, protocol],
    ['RST', rst, hostile, protocol],
    ['silence', () => {}, unanswering, timeout],
  ] as const) {
    const { all } = await upstream.play({ packets: '', after })
    t.match(all, [expected], name)
    await harmless(t, upstream, name)
  }
})

t.test('an end after a complete response has no effect', async (t) => {
  await passes(t, hostile, 'FIN', { packets: sized(4, 'body'), after: fin }, 'body', false)
  const { all } = await hostile.play({ packets: sized(4, 'body'), after: rst })
  t.ok([200, 502].includes(all[0]?.status ?? 0), 'RST: the response, or none')
  await harmless(t, hostile, 'RST')
  const closing = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody`
  await passes(t, hostile, 'announced, and not done', { packets: closing }, 'body', false)
})
