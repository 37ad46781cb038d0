/** Mutations of valid messages, on which parsers may come to disagree. */

import type { Random } from '../../support/random.ts'

/** Bytes that are significant to some parser. */
const NASTY = [...'\r\n\0 \t\x0b\x0c\x7f\x80\xa0\xff:;,"\\#%/.0-+_x']

/** Inserted between any two bytes. */
const TOKENS = [
  ['\r\n', '\n', '\r', '\r\r\n', '\n\r', '\r\n\r\n', '\n\n', '\r\n ', '\r\n\t', '\r\nX', '  ', '\t'],
  [': ', ' :', '0x', '+', '-', '00000000000000000', 'ffffffffffffffff', '10000000000000000'],
  ['18446744073709551616', '0\r\n\r\n', '1\r\na\r\n', ';a=', '"', '\x00', '\xef\xbb\xbf'],
  ['/../', '/./', '//', '%2e%2e', '%2f', '%5c', '%00', '%c0%ae', ';a=b', '\\', '#a', '?', '*'],
  ['http://gw.example', 'http://other', '@', 'chunked', ', chunked', 'identity', 'gzip'],
  [' HTTP/1.1', ' HTTP/1.0', ' HTTP/2.0', ' HTTP/0.9', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
].flat()

/** Inserted into targets. */
const PATHS = [
  ['/../', '/./', '//', '/..', '/%2e%2e/', '/.%2E/', '/..;/'],
  ['..', '.', '%2e', '%2f', '%2F..', '%2f.', '%2F../a', '..%2f', '%2f%2E%2e%2F'],
  ['%5c', '\\', ';', '%3b', '..%3B', '%00', '%'],
  ['%c0%af', '#', '?', '%25', '@', '\xe9'],
].flat()

const fields = (name: string, ...values: string[]) => values.map((value) => `${name}: ${value}`)

/** Inserted after any line. */
const LINES = [
  fields('Content-Length', '0', '4', '4, 4', '+4', '4\t', '0x4', '4;a', '-0', '99999999999999999999'),
  ['content-length: 30', 'Content-Length : 4', ' Content-Length: 4', 'Content_Length: 4', 'Content-Length:'],
  ['Content-Length\x00: 4', ...fields('X', 'a\nContent-Length: 4', 'a\rContent-Length: 4')],
  fields('Transfer-Encoding', 'chunked', 'Chunked', 'identity', 'gzip, chunked', 'chunked, identity'),
  fields('Transfer-Encoding', 'xchunked', ',chunked', '"chunked"'),
  ['Transfer-Encoding : chunked', 'Transfer-Encoding:chunked ', 'Transfer-Encoding:\x0bchunked'],
  ['Transfer-Encoding:\r\n chunked', 'Transfer_Encoding: chunked', 'X: a\nTransfer-Encoding: chunked'],
  [...fields('Host', 'gw.example', 'other', 'a b', 'a/b'), 'Host:', 'Host : a', 'X-Host: other'],
  fields('Connection', 'close', 'Content-Length', 'Transfer-Encoding, Host', 'Upgrade'),
  [...fields('Upgrade', 'h2c', 'websocket'), ...fields('Expect', '100-continue', '200-ok')],
  ['Trailer: Content-Length', 'TE: chunked', 'Keep-Alive: timeout=1', 'Proxy-Connection: keep-alive'],
  ['__proto__: a', 'constructor: a', ': a', 'X', 'X A: a', 'X\t: a', '\xe9: a', 'Space: s1'],
  ['X-Seatgate-User: root', 'X_Seatgate_User: root', 'X-Original-URL: /v1/trainings'],
  ['X: a\r\n Content-Length: 4', 'X-HTTP-Method-Override: DELETE', 'GET /docs/hidden HTTP/1.1'],
].flat()

const LINE_ENDS = ['\n', '\r', '\r\r\n', '\n\r', '', '\r\n\r\n', '\r\n ', '\x0b', '\x85']
const NUMBERS = [
  ['0', '1', '2', '5', 'a', '10', '-1', '+1', '0x1', '1 ', ' 1', '00', '1_0'],
  ['ffffffff', '100000000', '1e1', ''],
].flat()

type Mutation = (bytes: string, random: Random, other: () => string) => string

const cutAt = (bytes: string, at: number, removed: number, added: string) =>
  bytes.slice(0, at) + added + bytes.slice(at + removed)
const somewhere = (bytes: string, random: Random) => random.below(bytes.length + 1)

/** A position after a line end, or anywhere where there is none. */
function behindLine(bytes: string, random: Random): number {
  const end = bytes.indexOf('\r\n', somewhere(bytes, random))
  return end < 0 ? somewhere(bytes, random) : end + 2
}

const MUTATIONS: readonly Mutation[] = [
  (bytes, random) => cutAt(bytes, somewhere(bytes, random), 1, random.pick(NASTY)),
  (bytes, random) => cutAt(bytes, somewhere(bytes, random), 1, String.fromCharCode(random.below(256))),
  (bytes, random) => cutAt(bytes, somewhere(bytes, random), 0, random.pick(NASTY)),
  (bytes, random) => cutAt(bytes, somewhere(bytes, random), 1 + random.below(8), ''),
  (bytes, random) => cutAt(bytes, somewhere(bytes, random), 0, random.pick(TOKENS)),
  (bytes, random) => cutAt(bytes, behindLine(bytes, random), 0, random.pick(TOKENS)),
  (bytes, random) => cutAt(bytes, behindLine(bytes, random), 0, `${random.pick(LINES)}\r\n`),
  (bytes, random) => cutAt(bytes, behindLine(bytes, random), 0, `${random.pick(LINES)}\r\n`),
  /** Replaces a line. */
  (bytes, random) => {
    const at = behindLine(bytes, random)
    const end = bytes.indexOf('\r\n', at)
    return cutAt(bytes, at, end < 0 ? 0 : end - at, random.pick(LINES))
  },
  /** Repeats a line somewhere else. */
  (bytes, random) => {
    const at = behindLine(bytes, random)
    const end = bytes.indexOf('\r\n', at)
    return cutAt(bytes, behindLine(bytes, random), 0, bytes.slice(at, end < 0 ? bytes.length : end + 2))
  },
  /** Replaces a line end. */
  (bytes, random) => {
    const end = bytes.indexOf('\r\n', somewhere(bytes, random))
    return end < 0 ? bytes : cutAt(bytes, end, 2, random.pick(LINE_ENDS))
  },
  /** Replaces a number. */
  (bytes, random) => {
    const from = somewhere(bytes, random)
    const number = /[0-9a-f]+(?=\r\n|;)/.exec(bytes.slice(from))
    if (number === null) return bytes
    return cutAt(bytes, from + number.index, number[0].length, random.pick(NUMBERS))
  },
  /** Inserts into a target. */
  (bytes, random) => {
    const target = /(?<= )(?:http:\/\/|\/)[^ ]* HTTP/.exec(bytes.slice(somewhere(bytes, random)))
    if (target === null) return bytes
    const at = bytes.indexOf(target[0]) + random.below(target[0].length - 4)
    return cutAt(bytes, at, 0, random.pick(PATHS))
  },
  /** Appends to a path. */
  (bytes, random) => {
    const path = /(?<= )(?:http:\/\/|\/)[^ ?]*(?=[ ?])/.exec(bytes.slice(somewhere(bytes, random)))
    if (path === null) return bytes
    return cutAt(bytes, bytes.indexOf(path[0]) + path[0].length, 0, random.pick(PATHS))
  },
  (bytes, random) => bytes.slice(0, somewhere(bytes, random)),
  (bytes, random) => bytes.slice(somewhere(bytes, random)),
  /** Joins the beginning of this case and the end of another. */
  (bytes, random, other) => {
    const second = other()
    return bytes.slice(0, somewhere(bytes, random)) + second.slice(somewhere(second, random))
  },
]

/** @param counts numbers of mutations to pick from @param other makes bytes like these */
export function mutate(bytes: string, random: Random, counts: readonly number[], other: () => string) {
  const count = random.pick(counts)
  let mutated = bytes
  for (let i = 0; i < count; i++) mutated = random.pick(MUTATIONS)(mutated, random, other)
  return { bytes: mutated, valid: count === 0 }
}
