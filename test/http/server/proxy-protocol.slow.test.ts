/** The PROXY protocol: the address from a trusted balancer is used; any deviation closes the connection. */

import t, { type Test } from 'tap'
import { parseProxyHeader } from '../../../src/http/server/proxy-protocol.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { startWorld, type World } from '../../support/world.ts'
import { metric } from '../../support/operations.ts'

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n'

/** Version 2: command, family and data; the length is correct unless given. */
function v2(command: number, family: number, body: string, length = body.length): string {
  return `${SIGNATURE}${String.fromCharCode(command, family, length >> 8, length & 255)}${body}`
}

const bytes = (...numbers: number[]) => String.fromCharCode(...numbers)
const V4 = bytes(192, 0, 2, 7, 198, 51, 100, 1, 0x30, 0x39, 0, 80)
const V6 = `${'\x20\x01\x0d\xb8'}${'\0'.repeat(11)}\x01${'\0'.repeat(16)}${bytes(0x30, 0x39, 0, 80)}`
const tlv = (type: number, value: string) => `${bytes(type, value.length >> 8, value.length & 255)}${value}`

const GOOD: [string, string, string | null][] = [
  ['v1, IPv4', 'PROXY TCP4 192.0.2.7 198.51.100.1 12345 80\r\n', '192.0.2.7'],
  ['v1, IPv6', 'PROXY TCP6 2001:DB8:0::1 ::1 12345 80\r\n', '2001:db8::1'],
  ['v1, UNKNOWN', 'PROXY UNKNOWN\r\n', null],
  ['v1, UNKNOWN with more', 'PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n', null],
  ['v1, maximum length', `PROXY UNKNOWN ${'x'.repeat(91)}\r\n`, null],
  ['v2, IPv4', v2(0x21, 0x11, V4), '192.0.2.7'],
  ['v2, IPv6', v2(0x21, 0x21, V6), '2001:db8::1'],
  ['v2, with extensions', v2(0x21, 0x11, V4 + tlv(1, 'h2') + tlv(4, '')), '192.0.2.7'],
  ['v2, LOCAL', v2(0x20, 0x00, ''), null],
  ['v2, LOCAL with addresses', v2(0x20, 0x11, V4), null],
  ['v2, unspecified', v2(0x21, 0x00, 'anything'), null],
]

const BAD: [string, string][] = [
  ['none', 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['lower case', 'proxy TCP4 192.0.2.7 198.51.100.1 12345 80\r\n'],
  ['another word', 'PROXIED TCP4 192.0.2.7 198.51.100.1 12345 80\r\n'],
  ['LF alone', `PROXY TCP4 192.0.2.7 198.51.100.1 12345 80\n${'x'.repeat(107)}`],
  ['CR within', 'PROXY TCP4 192.0.2.7\r198.51.100.1 12345 80\r\n'],
  ['two spaces', 'PROXY TCP4  192.0.2.7 198.51.100.1 12345 80\r\n'],
  ['a tab', 'PROXY TCP4\t192.0.2.7 198.51.100.1 12345 80\r\n'],
  ['a space at the end', 'PROXY TCP4 192.0.2.7 198.51.100.1 12345 80 \r\n'],
  ['UDP', 'PROXY UDP4 192.0.2.7 198.51.100.1 12345 80\r\n'],
  ['no family', 'PROXY 192.0.2.7 198.51.100.1 12345 80\r\n'],
  ['UNKNOWN run on', 'PROXY UNKNOWNS\r\n'],
  ['the other family', 'PROXY TCP4 2001:db8::1 ::1 12345 80\r\n'],
  ['the other family, reversed', 'PROXY TCP6 192.0.2.7 198.51.100.1 12345 80\r\n'],
  ['three numbers', 'PROXY TCP4 192.0.2 198.51.100.1 12345 80\r\n'],
  ['a number too large', 'PROXY TCP4 192.0.2.256 198.51.100.1 12345 80\r\n'],
  ['octal', 'PROXY TCP4 0192.0.2.7 198.51.100.1 12345 80\r\n'],
  ['a name', 'PROXY TCP4 localhost 198.51.100.1 12345 80\r\n'],
  ['a zone', 'PROXY TCP6 fe80::1%eth0 ::1 12345 80\r\n'],
  ['a port too large', 'PROXY TCP4 192.0.2.7 198.51.100.1 65536 80\r\n'],
  ['a port with a zero', 'PROXY TCP4 192.0.2.7 198.51.100.1 012345 80\r\n'],
  ['a negative port', 'PROXY TCP4 192.0.2.7 198.51.100.1 -1 80\r\n'],
  ['one port', 'PROXY TCP4 192.0.2.7 198.51.100.1 12345\r\n'],
  ['too long', `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`],
  ['without end', `PROXY UNKNOWN ${'x'.repeat(200)}`],
  ['a control byte', 'PROXY UNKNOWN \0\r\n'],
  ['v2, a broken signature', v2(0x21, 0x11, V4).replace('QUIT', 'QUIP')],
  ['v2, version 1', v2(0x11, 0x11, V4)],
  ['v2, version 3', v2(0x31, 0x11, V4)],
  ['v2, another command', v2(0x22, 0x11, V4)],
  ['v2, UDP', v2(0x21, 0x12, V4)],
  ['v2, a UNIX socket', v2(0x21, 0x31, 'x'.repeat(216))],
  ['v2, another family', v2(0x21, 0x41, V4)],
  ['v2, too short for IPv4', v2(0x21, 0x11, V4.slice(1))],
  ['v2, too short for IPv6', v2(0x21, 0x21, V4)],
  ['v2, too long', v2(0x21, 0x11, V4 + tlv(4, 'x'.repeat(5000)))],
  ['v2, a truncated extension', v2(0x21, 0x11, V4 + tlv(1, 'h2').slice(0, -1))],
  ['v2, an extension without a length', v2(0x21, 0x11, `${V4}\x01`)],
]

const OPENING = 'seatgate_connections{state="opening"}'
const TRUSTING = ['trusted_proxies: [127.0.0.0/8]', 'proxy_protocol: true']
const GET = 'GET /docs/a HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n'

/** Of all tests that need no other configuration. */
const world = await startWorld(t, { top: TRUSTING })

t.test('each form, in one piece and byte by byte', async (t) => {
  for (const [name, text, address] of GOOD) {
    const whole = Buffer.from(`${text}GET`, 'latin1')
    const size = whole.length - 3
    t.match(
      parseProxyHeader(whole),
      { size, client: address === null ? null : { address, port: 12345 } },
      name,
    )
    for (let length = 0; length < size; length++)
      if (parseProxyHeader(whole.subarray(0, length)) !== null) t.fail(`${name}: ${length} bytes are enough`)
  }
})

t.test('each malformed form', async (t) => {
  for (const [name, text] of BAD) t.type(parseProxyHeader(Buffer.from(text, 'latin1')), 'string', name)
})

async function reported(
  t: Test,
  { port, upstream }: World,
  [name, header, address]: (typeof GOOD)[number],
): Promise<void> {
  const client = new RawClient(port).send(`${header}${GET}`)
  t.match(await client.until('true}'), /^HTTP\/1\.1 200/, name)
  client.received = ''
  t.match(await client.send(GET).until('true}'), /^HTTP\/1\.1 200/, `${name}: the next request`)
  client.close()
  // The balancer itself is trusted, and continued; its client is not.
  const chain = address === null ? '203.0.113.9, 127.0.0.1' : address
  for (const { headers } of upstream.seen.splice(0)) t.equal(headers['x-forwarded-for'], chain, name)
}

t.test('over sockets: the client is the one that the balancer reports', async (t) => {
  for (const form of GOOD) await reported(t, world, form)
  const clients = () => world.log().flatMap(({ msg, client }) => (msg === 'request' ? [client] : []))
  await until(() => clients().length === 2 * GOOD.length, 'the lines of the log')
  // Without an address the balancer itself is the peer: it is trusted, and vouches for X-Forwarded-For.
  t.same(
    clients(),
    GOOD.flatMap(([, , address]) => [address ?? '203.0.113.9', address ?? '203.0.113.9']),
  )
})

t.test('the same with several processes', async (t) => {
  const several = await startWorld(t, { top: [...TRUSTING, 'workers: 2'] })
  for (const form of GOOD.filter(([name]) => /IPv4$|UNKNOWN$|LOCAL$/.test(name)))
    await reported(t, several, form)
})

t.test('in pieces, and followed by a request with a body', async (t) => {
  const text = `${v2(0x21, 0x11, V4)}POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`
  for (const size of [1, 7, 27, 28, 29, 60]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
      text.slice(i * size, (i + 1) * size),
    )
    const client = await new RawClient(world.port).sendEach(pieces)
    t.match(await client.ended, /^HTTP\/1\.1 200/)
  }
  t.same(
    world.upstream.seen.splice(0).map(({ body }) => body),
    Array.from({ length: 6 }, () => 'hello'),
  )
})

t.test('anything else is closed without a response, counted, and logged at a bounded rate', async (t) => {
  holdTime(t)
  for (const [name, text] of BAD) t.equal(await new RawClient(world.port).send(text).ended, '', name)
  const early = new RawClient(world.port)
  early.socket.end('PROXY TCP4')
  t.equal(await early.ended, '', 'ended in the middle of it')
  const series = 'seatgate_connections_refused_total{reason="proxy_protocol"}'
  t.equal(await metric(world, series), BAD.length + 1)
  const lines = world.log().filter(({ msg }) => String(msg).includes('PROXY protocol'))
  t.match(lines, [
    { level: 'warn', peer: '127.0.0.1', reason: 'the connection does not begin with a PROXY header' },
  ])
  t.equal(world.upstream.seen.length, 0)
  t.equal(await metric(world, OPENING), 0)
})

t.test('the header of an untrusted peer is refused', async (t) => {
  const world = await startWorld(t, { top: ['trusted_proxies: [10.0.0.0/8]', 'proxy_protocol: true'] })
  for (const [name, header] of GOOD)
    t.equal(await new RawClient(world.port).send(`${header}${GET}`).ended, '', name)
  t.equal(world.upstream.seen.length, 0)
})

t.test('a late header closes the connection', async (t) => {
  const time = holdTime(t)
  const silent = [new RawClient(world.port), new RawClient(world.port).send('PROXY TCP4 192.0.2.7')]
  const after = new RawClient(world.port).send(`${GOOD[0]?.[1]}GET /docs/a HTTP/1.1\r\n`)
  await until(() => metric(world, OPENING).then((count) => count === 3), 'the connections')
  await untilStepped(time, () => [...silent, after].every(({ socket }) => socket.closed))
  for (const { received } of silent) t.equal(received, '')
  t.match(after.received, /^HTTP\/1\.1 408/, 'bytes after it close the connection too')
})

t.test('shutdown does not wait for a silent connection', async (t) => {
  const silent = new RawClient(world.port)
  const kept = new RawClient(world.port).send(`${GOOD[0]?.[1]}${GET}`)
  await kept.until('true}')
  await world.gateway.close(30_000)
  for (const wire of [silent, kept]) t.notMatch(await wire.ended, 'HTTP/1.1 408')
})
