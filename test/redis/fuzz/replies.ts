/** Hostile replies of Redis: well-formed and malformed bytes. */

import type { Random } from '../../support/random.ts'

/** @param text bytes, one character each; undefined: null */
export function bulk(text?: string): string {
  return text === undefined ? '$-1\r\n' : `$${text.length}\r\n${text}\r\n`
}

export const array = (...items: readonly string[]): string => `*${items.length}\r\n${items.join('')}`

/** Well-formed RESP2, each of a type that is wrong for some command. */
export const KINDS: readonly string[] = [
  ':5\r\n',
  ':-1\r\n',
  '$-1\r\n',
  '$0\r\n\r\n',
  '*-1\r\n',
  '*0\r\n',
  '+OK\r\n',
  '+\r\n',
  '+PONG\r\n',
  bulk('text'),
  bulk('role:slave\r\nloading:1\r\nloading_eta_seconds:0'),
  array('*-1\r\n'),
  array('$-1\r\n', '$-1\r\n', '$-1\r\n'),
  array(':1\r\n', ':2\r\n', ':3\r\n'),
  array(bulk('subscribe')),
  array(bulk('subscribe'), '$-1\r\n', ':1\r\n'),
  array(bulk('subscribe'), ':1\r\n', bulk('x')),
  array(bulk('subscribe'), '*0\r\n', '*-1\r\n'),
  array(bulk('unsubscribe'), '$-1\r\n', ':0\r\n'),
  array(bulk('message')),
  array(bulk('message'), '$-1\r\n', '$-1\r\n'),
  array(bulk('message'), ':1\r\n', ':2\r\n'),
  array(bulk('message'), bulk('seatgate:changes'), bulk('{}')),
  array(bulk('pmessage'), '$-1\r\n', '$-1\r\n', '$-1\r\n'),
  array(bulk('smessage'), '*-1\r\n'),
  array(bulk('sunsubscribe'), bulk('x'), ':0\r\n'),
  array('$-1\r\n', bulk('6379')),
  array(bulk('127.0.0.1'), bulk('99999')),
  array(bulk('127.0.0.1'), bulk('-1')),
  array(bulk(''), bulk('')),
  array(array(':0\r\n', ':16383\r\n', array('$-1\r\n', '*-1\r\n'))),
  array(array(':0\r\n', ':16383\r\n', array(bulk('127.0.0.1'), ':99999\r\n'))),
  array(array(':0\r\n', ':999999999\r\n', array(bulk('127.0.0.1'), ':1\r\n'))),
  array(array(bulk('__proto__'), ':1\r\n', array(bulk('127.0.0.1'), ':1\r\n'))),
  array('$-1\r\n', array(':1\r\n')),
  array(array('*-1\r\n', '*-1\r\n', '*-1\r\n')),
  '-\r\n',
  '-ERR no\r\n',
  '-MOVED\r\n',
  '-MOVED 1\r\n',
  '-MOVED 1 :\r\n',
  '-MOVED 1 nowhere\r\n',
  '-MOVED 1 127.0.0.1:99999\r\n',
  '-MOVED __proto__ 127.0.0.1:1\r\n',
  '-ASK\r\n',
  '-ASK 1 x\r\n',
  '-ASK 1 127.0.0.1:1\r\n',
  '-LOADING\r\n',
  '-READONLY You can not\r\n',
  '-CLUSTERDOWN\r\n',
  '-TRYAGAIN\r\n',
  '-NOAUTH\r\n',
  '-WRONGTYPE\r\n',
]

/** RESP3, which no client requests. */
export const RESP3: readonly string[] = [
  '_\r\n',
  '#t\r\n',
  '#x\r\n',
  ',1.5\r\n',
  ',nan\r\n',
  '(123456789012345678901234567890\r\n',
  '=7\r\ntxt:abc\r\n',
  '=1\r\nx\r\n',
  '!5\r\nERROR\r\n',
  '~1\r\n:1\r\n',
  '~-1\r\n',
  '%1\r\n+a\r\n:1\r\n',
  '%1\r\n$9\r\n__proto__\r\n:1\r\n',
  '|1\r\n+a\r\n:1\r\n:2\r\n',
  '>0\r\n',
  '>1\r\n_\r\n',
  '>2\r\n$9\r\nsubscribe\r\n_\r\n',
  '>3\r\n$7\r\nmessage\r\n_\r\n_\r\n',
  '>3\r\n$12\r\nsunsubscribe\r\n_\r\n:0\r\n',
  '>-1\r\n',
  '*?\r\n',
  '$?\r\n',
]

/** Not RESP, or impossible lengths. */
export const BROKEN: readonly string[] = [
  '\r\n',
  '\n',
  '\0',
  'HTTP/1.1 400 Bad Request\r\n\r\n',
  '\x15\x03\x01\x00\x02\x02\x46',
  ':\r\n',
  ':x\r\n',
  ':1e9\r\n',
  ':1',
  '$\r\n',
  '$-2\r\n',
  '$1e3\r\n',
  '$01\r\n',
  '$3\r\nabcde',
  '$3\r\nabc\n\n',
  '$536870912\r\nabc',
  '$99999999999999999999\r\n',
  '*\r\n',
  '*-2\r\n',
  '*1000000000\r\n',
  '*4294967296\r\n',
  '*99999999999999999999\r\n',
  '*65536\r\n',
  '+a\rb\r\n',
  '+a\nb\r\n',
]

const REPLIES = [...KINDS, ...RESP3, ...BROKEN]

/** @param honest the correct reply */
export function hostileReply(random: Random, correct: Buffer): Buffer {
  return random.pick(MAKERS)(random, correct)
}

type Maker = (random: Random, correct: Buffer) => Buffer

const listed: Maker = (random) => Buffer.from(random.pick(REPLIES), 'latin1')

const MAKERS: readonly Maker[] = [
  listed,
  listed,
  listed,
  (random) => Buffer.from(nested(random, 6)),
  (random) => Buffer.from(`*1\r\n`.repeat(1 + random.below(20_000))),
  (random) => Buffer.from(Array.from({ length: 1 + random.below(200) }, () => random.below(256))),
  // Truncated: the rest is missing, or the next reply follows instead.
  (random, correct) => correct.subarray(0, random.below(correct.length)),
  // An extra reply.
  (random, correct) => Buffer.concat([correct, listed(random, correct)]),
  (_random, correct) => Buffer.concat([correct, correct]),
  (random, correct) => flipped(random, correct),
  (random) => long(random.below(6 * 1024 * 1024)),
  (random) => Buffer.alloc(random.below(1024 * 1024), '+'),
  (random) =>
    Buffer.concat([Buffer.from(`*${1000 + random.below(80_000)}\r\n`), zeros(random.below(80_000))]),
]

function long(length: number): Buffer {
  return Buffer.concat([Buffer.from(`$${length}\r\n`), Buffer.alloc(length, 'x'), Buffer.from('\r\n')])
}

function zeros(count: number): Buffer {
  return Buffer.from(':0\r\n'.repeat(count))
}

function flipped(random: Random, correct: Buffer): Buffer {
  const bytes = Buffer.from(correct)
  const at = random.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  return bytes
}

/** Arrays of well-formed replies. */
function nested(random: Random, depth: number): string {
  if (depth === 0 || random.once(4)) return random.pick(KINDS)
  return array(...Array.from({ length: random.below(5) }, () => nested(random, depth - 1)))
}
