/** One case: pipelined requests, valid or mutated, and the division of their bytes into packets. */

import { Random } from '../../support/random.ts'
import { mutate } from './mutations.ts'

const METHODS = [
  ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT'],
  ['DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'LIST'],
].flat()
const TARGETS = [
  [
    '/docs/a',
    '/docs/a?x=y',
    '/docs/%61/%C3%A9',
    '/docs/b/c?%2e%2e//',
    '/docs/a?\xc3\xa9=\xff',
    '/docs/a%2Fb',
  ],
  ['/opaque/a%2fb?\xe9', '/opaque/%2F/c', '/opaque/a', '/opaque/a', '/open', '/open', '/open?a', '/nowhere'],
  ['/v1/trainings', '/small', 'http://gw.example/docs/a', 'http://gw.example/open?b'],
].flat()
const FIELDS = [
  ['Accept: */*', 'Connection: keep-alive', 'Connection: keep-alive, X-Private', 'Content-Type: text/plain'],
  [
    'Cookie: a=b; c=d',
    'Expect: 100-continue',
    'TE: trailers',
    'Trailer: X-T',
    'User-Agent: fuzz',
    'X-Empty:',
  ],
  ['X-Forwarded-For: 10.0.0.1', 'X-Private: secret', 'X-Seatgate-User: root', 'X-Odd: \t a\xe9"b, c=d;e \t'],
].flat()
const INNER = 'GET /docs/inner HTTP/1.1\r\nHost: gw.example\r\n\r\n'
const BODIES = ['', 'a', 'abcd', INNER, '\r\n\r\n', '0\r\n\r\n']

/** Of any kind. @param mark identifies the request at the upstream */
function validRequest(random: Random, mark: string): string {
  const method = random.pick(METHODS)
  const body =
    method === 'GET' || method === 'HEAD' ? (random.once(8) ? random.pick(BODIES) : '') : random.pick(BODIES)
  const lines = [`X-Case: ${mark}`]
  for (let i = random.below(4); i > 0; i--) lines.push(random.pick(FIELDS))
  const expects = lines.filter((line) => line.startsWith('Expect'))
  const [framing, bytes] = framed(random, body)
  if (framing !== '') lines.push(framing)
  lines.splice(random.below(lines.length + 1), 0, 'Host: gw.example')
  // A list of two is another expectation.
  const kept = lines.filter((line) => !line.startsWith('Expect') || (body !== '' && expects.length === 1))
  return `${method} ${random.pick(TARGETS)} HTTP/1.1\r\n${kept.join('\r\n')}\r\n\r\n${bytes}`
}

function framed(random: Random, body: string): readonly [string, string] {
  if (random.once(2)) return ['Transfer-Encoding: chunked', inChunks(random, body)]
  return body === '' && random.once(2) ? ['', ''] : [`Content-Length: ${body.length}`, body]
}

/** The body in chunks of any size, some with an extension, and perhaps a trailer. */
export function inChunks(random: Random, body: string): string {
  let chunks = ''
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(body.length - at)
    const extension = random.once(6) ? random.pick([';a', ';a=b', ';a="b;c"']) : ''
    chunks += `${random.once(4) ? '0' : ''}${size.toString(16)}${extension}\r\n${body.slice(at, at + size)}\r\n`
    at += size
  }
  return `${chunks}0\r\n${random.once(6) ? 'X-T: t\r\n' : ''}\r\n`
}

export interface Case {
  readonly index: number
  readonly bytes: string
  readonly packets: readonly string[]
  /** Not mutated: each of its requests gets its response. */
  readonly valid: boolean
}

/** Deterministic in seed and index. */
export function makeCase(seed: number, index: number): Case {
  const random = new Random(seed, index)
  let marks = 0
  const request = () => validRequest(random, `${index}.${marks++}`)
  let requests = request()
  for (let i = random.pick([0, 0, 1, 1, 2, 3]); i > 0; i--) requests += request()
  const { bytes, valid } = mutate(requests, random, [0, 1, 1, 1, 1, 2, 2, 3, 4], request)
  return { index, bytes, packets: split(bytes, random), valid }
}

function split(bytes: string, random: Random): string[] {
  const cuts = Array.from({ length: random.pick([0, 0, 0, 1, 2, 5]) }, () => random.below(bytes.length + 1))
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  return edges
    .slice(1)
    .map((end, at) => bytes.slice(edges[at], end))
    .filter((packet) => packet !== '')
}
