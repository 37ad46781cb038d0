/**
 * Over-long targets, header sections and bodies: each has its own code, the connection closes, and nothing goes
 * upstream.
 */

import t from 'tap'
import { chunked, get, startGateway, passesAll, post, refusesAll } from './gateway.ts'

const gateway = await startGateway(t)

t.test('targets', async (t) => {
  const ofLength = (length: number) => get('', `/docs/${'a'.repeat(length - 6)}`)
  await passesAll(t, gateway, { 'of 8192 bytes': ofLength(8192) })
  await refusesAll(
    t,
    gateway,
    { 'of 8193': ofLength(8193), 'of 30,000': ofLength(30_000) },
    'uri_too_long',
    414,
  )
  const query = { 'of a query': get('', `/docs/a?${'a'.repeat(8192)}`) }
  await refusesAll(t, gateway, query, 'uri_too_long', 414)
  const beyond = { 'of 40,000': ofLength(40_000), 'without end': `GET /${'a'.repeat(200_000)}` }
  await refusesAll(t, gateway, beyond, 'uri_too_long', 414)
})

t.test('header sections', async (t) => {
  await passesAll(t, gateway, {
    'of nearly 32 KiB': get(`X-A: ${'a'.repeat(32_000)}\r\n`),
    'of 200 fields': get('X-A: a\r\n'.repeat(199)),
    'of one field with a long name': get(`${'a'.repeat(30_000)}: a\r\n`),
  })
  await refusesAll(
    t,
    gateway,
    {
      'of 201 fields': get('X-A: a\r\n'.repeat(200)),
      'of 4000 fields': get('A:\r\n'.repeat(4000)),
      'one value': get(`X-A: ${'a'.repeat(40_000)}\r\n`),
      'one value without end': `GET /docs/a HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(300_000)}`,
      'one name': get(`${'a'.repeat(40_000)}: a\r\n`),
      'one name without end': `GET /docs/a HTTP/1.1\r\nHost: a\r\n${'a'.repeat(300_000)}`,
      'many short fields': get('X-A: aaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(2000)),
      'lines without end': `GET /docs/a HTTP/1.1\r\nHost: a\r\n${'X-A: a\r\n'.repeat(50_000)}`,
      'before a body': post(`X-A: ${'a'.repeat(40_000)}\r\nContent-Length: 4\r\n`, 'abcd'),
      'before chunks': chunked('4\r\nabcd\r\n0\r\n\r\n', 'X-A: a\r\n'.repeat(300)),
      'in many packets': [
        get('').slice(0, -2),
        ...Array.from({ length: 100 }, () => `X-A: ${'a'.repeat(500)}\r\n`),
      ],
    } as Record<string, string | string[]>,
    'headers_too_large',
    431,
  )
})

t.test('methods and Hosts', async (t) => {
  await refusesAll(t, gateway, { 'a method of 100,000 letters': `${'A'.repeat(100_000)} / HTTP/1.1\r\n` })
  await passesAll(t, gateway, {
    'a Host of 10,000 letters': `GET /docs/a HTTP/1.1\r\nHost: ${'a'.repeat(10_000)}\r\n\r\n`,
  })
})

t.test('bodies', async (t) => {
  const small = (headers: string, body: string) => `POST /small HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`
  const many = '1\r\na\r\n'.repeat(1025)
  for (const [name, bytes] of Object.entries({
    'by their length': small('Content-Length: 1025\r\n', 'a'.repeat(1025)),
    'in one chunk': small('Transfer-Encoding: chunked\r\n', `401\r\n${'a'.repeat(1025)}\r\n0\r\n\r\n`),
    'in many chunks': small('Transfer-Encoding: chunked\r\n', `${many}0\r\n\r\n`),
    'in a chunk of the maximum 64-bit size': small(
      'Transfer-Encoding: chunked\r\n',
      `ffffffffffffffff\r\n${'a'.repeat(2000)}`,
    ),
  })) {
    const { all } = await gateway.send(bytes, { answers: 1 })
    t.match(all, [{ status: 413, code: 'body_too_large' }], name)
    t.notOk(
      gateway.upstream.requests.some(({ whole }) => whole),
      `${name}: no complete request upstream`,
    )
    gateway.forget()
  }
})

t.test("a body of exactly the route's limit", async (t) => {
  await passesAll(t, gateway, {
    '1 KiB': `POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 1024\r\n\r\n${'a'.repeat(1024)}`,
  })
})
