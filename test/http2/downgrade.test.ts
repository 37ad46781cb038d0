/**
 * Request smuggling by downgrade: what reaches an upstream of HTTP/1.1 is, byte for byte, what the same request over
 * HTTP/1.1 makes of it; and nothing of a malformed request reaches it.
 */

import { connect } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { DATA, END_STREAM } from '../../src/http/wire/http2/http2-frames.ts'
import { MALFORMED } from '../support/malformed-http2.ts'
import { type RawClient, roundTrip } from '../support/raw-client.ts'
import { type Fields, GET, POST } from '../support/raw-http2.ts'
import { openRaw, rawUpstream, startSecured } from './support.ts'

const ROUTES = ['GET /docs/*: public', 'GET /: public', 'POST /open: public', 'PUT /open: public']
const RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/** An upstream that answers complete requests: those with a body end with `END`. */
const upstream = await rawUpstream(t, (socket, text) => {
  const rest = text.slice(text.lastIndexOf('\r\n\r\n', text.length - 5) + 1)
  if (/^(?:POST|PUT) /.test(lastHead(text)) ? /END(?:\r\n0\r\n\r\n)?$/.test(rest) : text.endsWith('\r\n\r\n'))
    socket.write(RESPONSE)
})

function lastHead(text: string): string {
  return text.slice(
    Math.max(0, text.search(/(?:POST|PUT|GET) [^\r]*\r\n(?![^]*(?:POST|PUT|GET) \/[^\r]* HTTP)/)),
  )
}

const world = await startSecured(t, { routes: ROUTES, target: upstream.url })

/** What has reached the upstream since the last call. */
const taken = new Map<RawClient, number>()
function received(): string {
  const fresh = upstream.connections.map((each) => each.received.slice(taken.get(each) ?? 0))
  for (const each of upstream.connections) taken.set(each, each.received.length)
  return fresh.join('')
}

/** The same, once a valid request that was sent later has reached the upstream: nothing before it is still under way. */
async function receivedBefore(): Promise<string> {
  const request = 'GET /docs/later HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n'
  const answer = await roundTrip(world.port, request)
  const text = received()
  const [later] = /GET \/docs\/later HTTP\/1\.1\r\n[^]*?\r\n\r\n/.exec(text) ?? []
  if (later === undefined) throw new Error(`the valid request did not reach the upstream: ${answer}`)
  return text.replace(later, '')
}

const odd = (more: Fields, path = '/docs/a', of: Fields = GET): Fields => [
  ...of.map(([name, value]) => [name, name === ':path' ? path : value] as const),
  ...more,
]

const LEGAL: readonly (readonly [string, Fields])[] = [
  ['nothing odd', odd([])],
  ['an empty value', odd([['x-empty', '']])],
  ['tabs and spaces within a value', odd([['x-a', 'a \t b']])],
  ['bytes over 0x7f in a value', odd([['x-a', '\xe4\xff\x80']])],
  ['every character of a token in a name', odd([["x!#$%&'*+.^_`|~1", 'v']])],
  ['colons and commas in a value', odd([['x-a', ':a, b:, ,']])],
  ['quotes and backslashes', odd([['x-a', '"a\\"b"']])],
  ['what looks like a chunk', odd([['x-a', '0']])],
  [
    'fields that repeat',
    odd([
      ['x-a', '1'],
      ['x-b', '2'],
      ['x-a', '3'],
    ]),
  ],
  ['a field that repeats 50 times', odd(Array.from({ length: 50 }, (_, i) => ['x-a', String(i)] as const))],
  ['a query of odd bytes', odd([], '/docs/a?b=\xe4&c=//..%00;=?')],
  ['a path of odd bytes', odd([], "/docs/a!$&'()*+,=:@~_-.b")],
  ['escapes in a path', odd([], '/docs/%41%C3%A4')],
  [
    'range, if-match, etag',
    odd([
      ['range', 'bytes=0-1'],
      ['if-match', '"x"'],
    ]),
  ],
  [
    'forwarded fields',
    odd([
      ['forwarded', 'for=1.2.3.4'],
      ['x-forwarded-for', '1.2.3.4'],
      ['x-real-ip', '1'],
    ]),
  ],
  [
    'identity fields',
    odd([
      ['x-seatgate-user', 'root'],
      ['x-seatgate-tenant', 'other'],
      ['x_seatgate_user', 'root'],
    ]),
  ],
  ['te', odd([['te', 'trailers']])],
  ['a content-length of 0', odd([['content-length', '0']])],
  [
    'via and max-forwards',
    odd([
      ['via', '1.0 x'],
      ['max-forwards', '0'],
    ]),
  ],
  ['a long value', odd([['x-a', 'v'.repeat(7000)]])],
  ['a body with its length', odd([['content-length', '7']], '/open', POST)],
  ['a body without a length', odd([], '/open', POST)],
]
const BODY = 'bodyEND'

/** The same request in HTTP/1.1. */
function inHttp1(fields: Fields): Buffer {
  const of = (name: string) => fields.find(([each]) => each === name)?.[1] ?? ''
  const lines = fields.filter(([name]) => !name.startsWith(':')).map(([name, value]) => `${name}: ${value}`)
  const hasBody = of(':method') === 'POST'
  const isChunked = hasBody && of('content-length') === ''
  if (isChunked) lines.push('transfer-encoding: chunked')
  const head = [`${of(':method')} ${of(':path')} HTTP/1.1`, `host: ${of(':authority')}`, ...lines, '', '']
  const body = isChunked ? `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n` : hasBody ? BODY : ''
  return Buffer.from(head.join('\r\n') + body, 'latin1')
}

const withoutId = (text: string) => text.replace(/^(x-request-id|x-forwarded-proto): .*\r\n/gim, '$1\r\n')

t.test('legal requests reach the upstream as over HTTP/1.1', async (t) => {
  const client = await openRaw(t, world.securePort)
  let id = -1
  for (const [what, fields] of LEGAL) {
    const plain = connect(world.port, '127.0.0.1')
    plain.write(inHttp1(fields))
    const [answer] = await once(plain, 'data')
    plain.destroy()
    const one = received()
    id += 2
    const hasBody = fields[0]?.[1] === 'POST'
    client.headers(id, fields, hasBody ? 0 : END_STREAM)
    if (hasBody) client.frame(DATA, END_STREAM, id, Buffer.from(BODY))
    const status = await client.status(id)
    const two = received()
    t.match(String(answer), `HTTP/1.1 ${status} `, what)
    t.equal(withoutId(two), withoutId(one), what)
    if (status === 200) t.match(two, /^x-forwarded-proto: https\r$/m, what)
    else t.equal(two, '', what)
  }
})

t.test('malformed requests reach no upstream', async (t) => {
  received()
  for (const [rule, fields] of MALFORMED) {
    const client = await openRaw(t, world.securePort)
    client.headers(1, fields)
    t.equal(await client.outcome(1), 'status 400', rule)
    t.equal(await receivedBefore(), '', rule)
    client.socket.destroy()
  }
})

t.test('a body that breaks its length does not reach the upstream as a whole one', async (t) => {
  for (const [what, length, parts] of [
    ['longer', '3', ['abc', 'GET /docs/x HTTP/1.1\r\n\r\n']],
    ['shorter', '99', ['abc']],
  ] as const) {
    received()
    const client = await openRaw(t, world.securePort)
    client.headers(1, odd([['content-length', length]], '/open', POST), 0)
    for (const [i, part] of parts.entries())
      client.frame(DATA, i === parts.length - 1 ? END_STREAM : 0, 1, Buffer.from(part))
    t.match(await client.outcome(1), /^RST 1$|^status 4/, what)
    const text = await receivedBefore()
    t.notMatch(text, 'GET /docs/x', what)
    t.notOk(text.includes('abc') && length === '99' && text.endsWith('0\r\n\r\n'), what)
    client.socket.destroy()
  }
})
