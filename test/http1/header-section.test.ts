/** What says the same as the request before is the same section, and nothing else ever is. */

import fc from 'fast-check'
import t from 'tap'
import { type HeaderSection, headerSection, MadeOf } from '../../src/http1/header-section.ts'
import { MessageReader } from '../../src/http1/message-reader.ts'
import { requestGrammar, type RequestHead } from '../../src/http1/requests.ts'

const LINES = 'Host: a\r\nX-A: b\r\n'

/** The heads of requests that come on one connection; `forget` is called before those of the places given. */
function headsOf(texts: readonly string[], forgets: readonly number[] = []): RequestHead[] {
  const heads: RequestHead[] = []
  const reader: MessageReader<RequestHead> = new MessageReader(requestGrammar(4096), 4096, {
    head: (head) => void heads.push(head),
    body: () => {},
    end: () => reader.begin(),
  })
  reader.begin()
  for (const [i, text] of texts.entries()) {
    if (forgets.includes(i)) reader.forget()
    const bytes = Buffer.from(text, 'latin1')
    reader.read(bytes, 0, bytes.length)
  }
  return heads
}

t.test('the same lines again are the same section, whatever the request line', async (t) => {
  const heads = headsOf([
    `GET /1 HTTP/1.1\r\n${LINES}\r\n`,
    `POST /2?x HTTP/1.0\r\n${LINES}\r\n`,
    `GET /3 HTTP/1.1\r\n${LINES}X-C: d\r\n\r\n`,
    `GET /3 HTTP/1.1\r\n${LINES}\r\n`,
  ])
  const [first, second, third, fourth] = heads.map(({ section }) => section)
  t.equal(second, first)
  t.not(third, first)
  t.not(fourth, first, 'only the last one is kept')
  t.same(
    heads.map(({ method, target, minor, keeps }) => [method, target, minor, keeps]),
    [
      ['GET', '/1', 1, true],
      ['POST', '/2?x', 0, false],
      ['GET', '/3', 1, true],
      ['GET', '/3', 1, true],
    ],
  )
})

t.test('nothing is kept of what is forgotten', async (t) => {
  const text = `GET /1 HTTP/1.1\r\n${LINES}\r\n`
  const [first, second, third] = headsOf([text, text, text], [2]).map(({ section }) => section)
  t.equal(second, first)
  t.not(third, first)
})

t.test('what is made of a section is made once of one that comes again', async (t) => {
  let made = 0
  const names = new MadeOf(({ fields }) => {
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

t.test('a connection reads what each request by itself would be', async (t) => {
  const line = fc.constantFrom(
    'X-A: b',
    'X-A:  b',
    'x-a: b',
    'X-A: c',
    'Space: s1',
    'Space: s2',
    'Connection: close',
  )
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    version: fc.constantFrom('1.1', '1.0'),
    lines: fc.array(line, { maxLength: 2 }),
    body: fc.constantFrom('', 'Content-Length: 0', 'Content-Length: 3'),
  })
  const textOf = ({
    method,
    version,
    lines,
    body,
  }: {
    method: string
    version: string
    lines: string[]
    body: string
  }) =>
    `${method} / HTTP/${version}\r\n${['Host: a', ...lines, body].filter(Boolean).join('\r\n')}\r\n\r\n${body.endsWith('3') ? 'abc' : ''}`
  const plain = (head: RequestHead) => ({ ...head, section: { ...head.section, made: null } })
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), fc.array(fc.nat(11)), (requests, forgets) => {
      const texts = requests.map(textOf)
      const alone = texts.flatMap((text) => headsOf([text]))
      t.strictSame(headsOf(texts, forgets).map(plain), alone.map(plain))
    }),
    { numRuns: 200 },
  )
})
