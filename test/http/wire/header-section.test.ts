/** What says the same as the request before is the same section, and nothing else ever is. */

import fc from 'fast-check'
import t from 'tap'
import { type HeaderSection, headerSection } from '../../../src/http/wire/header-section.ts'
import { MadeOf } from '../../../src/lib/made-of.ts'
import { MessageParser } from '../../../src/http/wire/message-parser.ts'
import { MalformedRequest } from '../../../src/http/wire/malformed-request.ts'
import { requestGrammar, type RequestHead } from '../../../src/http/wire/request-parser.ts'
import { collected } from '../../support/garbage.ts'

const LINES = 'Host: a\r\nX-A: b\r\n'

/** The heads of requests that come on one connection; `forget` is called before those of the places given. */
function headsOf(
  texts: readonly string[],
  forgets: readonly number[] = [],
  read: (head: RequestHead) => void = () => {},
): RequestHead[] {
  const heads: RequestHead[] = []
  const reader: MessageParser<RequestHead> = new MessageParser(requestGrammar(4096), 4096, {
    head: (head) => {
      heads.push(head)
      read(head)
    },
    body: () => {},
    end: () => reader.begin(),
  })
  reader.begin()
  for (const [i, text] of texts.entries()) {
    if (forgets.includes(i)) reader.forget()
    const bytes = Buffer.from(text, 'latin1')
    // One that is whole is begun anew; what is left of a body in the same bytes is read on.
    for (let at = 0; at < bytes.length;) at = reader.read(bytes, at, bytes.length)
  }
  return heads
}

t.test('the same lines again are the same section, whatever the request line', async (t) => {
  const heads = headsOf([
    `GET /1 HTTP/1.1\r\n${LINES}\r\n`,
    `POST /2?x HTTP/1.0\r\n${LINES}\r\n`,
    `GET /3 HTTP/1.1\r\n${LINES}\r\n`,
    `GET /3 HTTP/1.1\r\n${LINES}X-C: d\r\n\r\n`,
    `GET /3 HTTP/1.1\r\n${LINES}\r\n`,
    `GET /3 HTTP/1.1\r\n${LINES}\r\n`,
  ])
  const [first, second, third, other, alone, again] = heads.map(({ section }) => section)
  t.not(second, first, 'it holds parts of what was read with it')
  t.equal(third, second)
  t.not(other, second)
  t.not(alone, second, 'a connection keeps only the last one')
  t.equal(again, second)
  t.same(
    heads.map(({ method, target, minor, keepAlive }) => [method, target, minor, keepAlive]),
    [
      ['GET', '/1', 1, true],
      ['POST', '/2?x', 0, false],
      ['GET', '/3', 1, true],
      ['GET', '/3', 1, true],
      ['GET', '/3', 1, true],
      ['GET', '/3', 1, true],
    ],
  )
})

t.test('connections that say the same share it, to the byte', async (t) => {
  const twice = (lines: string) => {
    const text = `GET /1 HTTP/1.1\r\n${lines}\r\n`
    return headsOf([text, text]).map(({ section }) => section)[1]
  }
  const one = twice(LINES)
  t.equal(twice(LINES), one)
  for (const other of [
    'Host: a\r\nX-A: c\r\n',
    'Host: a\r\nx-a: b\r\n',
    `${LINES}X-A: b\r\n`,
    'Host: a\r\nX-A:b\r\n',
  ])
    t.not(twice(other), one)
  t.equal(twice(LINES), one)
})

t.test('nothing is kept of what is forgotten', async (t) => {
  const text = `GET /1 HTTP/1.1\r\n${LINES}\r\n`
  const [first, second, third] = headsOf([text, text, text], [2]).map(({ section }) => section)
  t.not(third, first)
  t.not(third, second)
})

t.test('it is shared as long as a connection keeps it, and no longer', async (t) => {
  const bytes = () => process.memoryUsage().heapUsed
  const twice = (i: number) => {
    const text = `GET /1 HTTP/1.1\r\nHost: a\r\nCookie: secret-${i}-${'x'.repeat(2000)}\r\n\r\n`
    return headsOf([text, text])[1]?.section
  }
  twice(-1)
  await collected()
  const before = bytes()
  const kept = Array.from({ length: 1000 }, (_, i) => twice(i))
  await collected()
  t.ok(bytes() - before > 2_000_000)
  t.equal(twice(7), kept[7])
  t.equal(kept.splice(0).length, 1000)
  await collected()
  t.ok(bytes() - before < 200_000, `${bytes() - before} bytes are left`)
})

t.test('where there are too many, each connection has its own', async (t) => {
  const twice = (i: number | string) => {
    const text = `GET /1 HTTP/1.1\r\nHost: h${i}\r\n\r\n`
    return headsOf([text, text, text]).map(({ section }) => section)
  }
  const kept = Array.from({ length: 10_100 }, (_, i) => twice(i))
  const [, own, again] = twice('last')
  t.ok(own === again && own?.made !== null, 'of its own')
  t.not(twice('last')[1], own)
  t.equal(twice(7)[1], kept[7]?.[1], 'those that were shared before are still')
  kept.splice(0)
  await collected()
  t.equal(twice('last')[1], twice('last')[1])
})

t.test('what is made of a section is made once of one that comes again', async (t) => {
  let made = 0
  const names = new MadeOf(({ fields }: HeaderSection) => {
    made++
    return fields.filter((_, i) => i % 2 === 0)
  })
  const others = new MadeOf(({ fields }: HeaderSection) => fields.length)
  const first = headerSection(LINES, null)
  t.same(names.of(first), ['Host', 'X-A'])
  t.same(names.of(first), ['Host', 'X-A'])
  t.equal(made, 2, 'it may never come again')
  const again = headerSection(LINES, first)
  t.equal(names.of(again), names.of(again))
  t.equal(made, 3)
  t.equal(others.of(again), 4, 'each maker has its own')
  const other = headerSection('Host: b\r\n', again)
  t.same(names.of(other), ['Host'])
})

t.test('nothing is kept of a large read, nor while the next head is not whole', async (t) => {
  const head = `POST /1 HTTP/1.1\r\n${LINES}Content-Length: 9000\r\n\r\n`
  const whole = head + 'x'.repeat(9000)
  const [large, afterLarge] = headsOf([whole, head]).map(({ section }) => section)
  t.not(afterLarge, large)
  const [small, ...repeated] = headsOf([head, 'x'.repeat(9000), whole, whole]).map(({ section }) => section)
  t.equal(repeated.length, 2)
  t.ok(repeated.every((each) => each !== small && each === repeated[0]))
  const text = `GET /1 HTTP/1.1\r\n${LINES}\r\n`
  const [first, second, third] = headsOf([text, text.slice(0, 9), text.slice(9), text]).map(
    ({ section }) => section,
  )
  t.not(second, first)
  t.not(third, second)
})

interface Asked {
  readonly method: string
  readonly version: string
  readonly lines: readonly string[]
  readonly body: readonly [string, string]
}

function textOf({ method, version, lines, body: [framing, content] }: Asked): string {
  const fields = ['Host: a', ...lines, framing].filter((line) => line !== '')
  return `${method} / HTTP/${version}\r\n${fields.join('\r\n')}\r\n\r\n${content}`
}

/** What was read of it, or what is wrong with it. */
function outcomes(texts: readonly string[], forgets: readonly number[]): unknown[] {
  const found: unknown[] = []
  try {
    headsOf(texts, forgets, (head) => found.push({ ...head, section: { ...head.section, made: null } }))
  } catch (error) {
    if (!(error instanceof MalformedRequest)) throw error
    found.push(error.message)
  }
  return found
}

t.test('a connection reads what each request by itself would be', async (t) => {
  const lines = ['X-A: b', 'X-A:  b', 'x-a: b', 'X-A: c', 'Space: s1', 'Space: s2', 'Connection: close']
  const request: fc.Arbitrary<Asked> = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
    lines: fc.array(fc.constantFrom(...lines), { maxLength: 2 }),
    body: fc.constantFrom(
      ['', ''] as const,
      ['Content-Length: 0', ''] as const,
      ['Content-Length: 3', 'abc'] as const,
      ['Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'] as const,
    ),
  })
  let faults = 0
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), fc.array(fc.nat(11)), (requests, forgets) => {
      const texts = requests.map(textOf)
      const alone = texts.flatMap((text) => outcomes([text], []))
      const fault = alone.findIndex((each) => typeof each === 'string')
      if (fault >= 0) faults++
      t.strictSame(outcomes(texts, forgets), fault < 0 ? alone : alone.slice(0, fault + 1))
    }),
    { numRuns: 300 },
  )
  t.ok(faults > 0, 'HTTP/1.0 has no chunks, also where the same lines were right before')
})
