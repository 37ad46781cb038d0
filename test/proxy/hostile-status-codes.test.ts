/**
 * Status codes, valid or not: interim, final with and without a body, or refused. `hostile-status-codes.slow.test.ts`
 * has all valid ones.
 */

import t from 'tap'
import { HostileUpstream, harmless, passes, refused } from '../hostile/hostile-upstream.ts'
import { finalPass, interimPass, sized } from '../hostile/status-codes.ts'

const hostile = await HostileUpstream.start(t)

t.test('final ones pass, with their bodies where they have one', (t) =>
  finalPass(t, hostile, [200, 204, 205, 206, 226, 299, 300, 304, 399, 400, 418, 499, 500, 599, 600, 999]),
)

t.test('100 to 199 without an end or a final response are no response', async (t) => {
  for (const status of [100, 102, 103, 104, 150, 199]) {
    const script = {
      packets: `HTTP/1.1 ${status} X\r\nX-A: a\r\n\r\n`,
      after: (socket: { end(): unknown }) => socket.end(),
    }
    const { all } = await hostile.play(script)
    t.match(all, [{ status: 502, code: 'upstream_protocol_error' }], String(status))
    await harmless(t, hostile, String(status))
  }
})

t.test('interim ones precede the response and do not change it', (t) =>
  interimPass(t, hostile, [100, 102, 103, 104, 150, 199]),
)

t.test('a length or a coding in an interim response frames nothing', async (t) => {
  for (const line of ['Content-Length: 4', 'Transfer-Encoding: chunked', 'Content-Length: 0']) {
    const { all, rest } = await hostile.play({
      packets: `HTTP/1.1 103 X\r\n${line}\r\n\r\n${sized('200 OK')}`,
    })
    const got = all.map(({ status, body }) => ({ status, body }))
    t.ok(got.length === 1 && (got[0]?.status === 502 || got[0]?.body === 'body'), line)
    t.equal(rest, '')
    t.ok(await hostile.nextRequestsWork(), line)
  }
})

t.test('a thousand interim responses', async (t) => {
  const packets = 'HTTP/1.1 103 X\r\nLink: </a>\r\n\r\n'.repeat(1000) + sized('200 OK')
  await passes(t, hostile, 'and then an answer', { packets }, 'body', true)
})

t.test('an unrequested switch of protocols', async (t) => {
  const inner = sized('200 OK')
  for (const lines of [
    'Upgrade: websocket\r\nConnection: upgrade\r\n',
    'Upgrade: h2c\r\n',
    '',
    'Content-Length: 4\r\n',
  ])
    await refused(t, hostile, JSON.stringify(lines), { packets: `HTTP/1.1 101 X\r\n${lines}\r\n${inner}` })
})

t.test('invalid status codes', async (t) => {
  for (const status of [
    '',
    '0',
    '2',
    '20',
    '000',
    '001',
    '099',
    '2000',
    '1000',
    '-200',
    '+200',
    '20x',
    '2 0',
    '0x1',
    '２００',
    '200OK',
    '200.0',
    '200,200',
  ])
    await refused(t, hostile, JSON.stringify(status), {
      packets: sized(Buffer.from(`${status} OK`).toString('latin1')),
    })
})

t.test('a line without a phrase, or with a long one', async (t) => {
  for (const status of ['200', '200 ', `200 ${'a'.repeat(20_000)}`]) {
    const { all, rest } = await hostile.play({ packets: sized(status) })
    t.match([all, rest], [[{ status: 200, body: 'body' }], ''], status.slice(0, 20))
  }
  await refused(t, hostile, 'without end', { packets: `HTTP/1.1 200 ${'a'.repeat(200_000)}` })
})

t.test('versions', async (t) => {
  for (const version of [
    'HTTP/1.2',
    'HTTP/1.10',
    'HTTP/3.0',
    'HTTP/1',
    'HTTP',
    'http/1.1',
    'HTTPS/1.1',
    'SIP/2.0',
    'ICY',
    'HTTP/1.1.1',
    'HTTP/ 1.1',
    'HTTP\\1.1',
  ])
    await refused(t, hostile, version, { packets: `${version} 200 OK\r\nContent-Length: 4\r\n\r\nbody` })
})
