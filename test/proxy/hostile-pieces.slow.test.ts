/** Responses split at any byte: the client receives the same, and malformed ones are refused. */

import t from 'tap'
import { broken, HostileUpstream, passes, refused } from '../hostile/hostile-upstream.ts'

const hostile = await HostileUpstream.start(t)

const HEAD = 'HTTP/1.1 200 OK\r\n'
const good: Readonly<Record<string, string>> = {
  'a length': `${HEAD}Content-Length: 4\r\nX-A: a\r\n\r\nbody`,
  chunks: `${HEAD}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nbo\r\n2\r\ndy\r\n0\r\nX-T: t\r\n\r\n`,
  'interim answers first': `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${HEAD}Content-Length: 4\r\n\r\nbody`,
}

for (const [name, bytes] of Object.entries(good)) {
  t.test(`${name}, cut in two at each byte, and into single bytes`, async (t) => {
    for (let at = 1; at < bytes.length; at++) {
      const { all, rest } = await hostile.play({ packets: [bytes.slice(0, at), bytes.slice(at)] })
      t.match([all, rest], [[{ status: 200, body: 'body' }], ''], `at ${at}`)
    }
    await passes(t, hostile, 'byte by byte', { packets: [...bytes] }, 'body', true)
  })
}

t.test('malformed responses, split at each byte', async (t) => {
  const bytes = `${HEAD}X-A: a\r\n Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody`
  for (let at = 1; at < bytes.length; at += 3)
    await refused(t, hostile, `at ${at}`, { packets: [bytes.slice(0, at), bytes.slice(at)] })
  const chunks = `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n-2\r\ndy\r\n0\r\n\r\n`
  for (let at = HEAD.length; at < chunks.length; at += 3)
    await broken(t, hostile, `at ${at}`, { packets: [chunks.slice(0, at), chunks.slice(at)] })
})

t.test('a response that stops at any byte is never complete', async (t) => {
  for (const [name, bytes] of Object.entries(good))
    for (let at = 1; at < bytes.length; at += 2) {
      const end = at % 4 === 1 ? 'end' : 'resetAndDestroy'
      await broken(t, hostile, `${name}: ${end} at ${at}`, {
        packets: bytes.slice(0, at),
        after: (socket) => void socket[end](),
      })
    }
})
