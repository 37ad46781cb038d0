/** Chunks that two parsers could read differently (RFC 9112, section 7.1; CVE-2024-22019, CVE-2025-22871). */

import t from 'tap'
import { chunked, startGateway, passesAll, refusesAll, type Packets } from './gateway.ts'

const gateway = await startGateway(t)

const LAST = '0\r\n\r\n'
const all = (bodies: Readonly<Record<string, string>>): Record<string, Packets> =>
  Object.fromEntries(Object.entries(bodies).map(([name, body]) => [name, chunked(body)]))

t.test('sizes', async (t) => {
  await refusesAll(
    t,
    gateway,
    all({
      none: `\r\nabcd\r\n${LAST}`,
      'a sign': `+4\r\nabcd\r\n${LAST}`,
      'below zero': `-4\r\nabcd\r\n${LAST}`,
      'minus nothing': `-0\r\n\r\n`,
      'with 0x': `0x4\r\nabcd\r\n${LAST}`,
      'with 0X': `0X4\r\nabcd\r\n${LAST}`,
      'a space before': ` 4\r\nabcd\r\n${LAST}`,
      'a tab before': `\t4\r\nabcd\r\n${LAST}`,
      'a space behind': `4 \r\nabcd\r\n${LAST}`,
      'a tab behind': `4\t\r\nabcd\r\n${LAST}`,
      'an underscore': `0_4\r\nabcd\r\n${LAST}`,
      'a letter that is no digit': `4g\r\nabcd\r\n${LAST}`,
      'h behind': `4h\r\nabcd\r\n${LAST}`,
      quotes: `"4"\r\nabcd\r\n${LAST}`,
      'a fraction': `4.0\r\nabcd\r\n${LAST}`,
      'NUL behind': `4\x00\r\nabcd\r\n${LAST}`,
      'NUL before': `\x004\r\nabcd\r\n${LAST}`,
      'a vertical tab before': `\x0b4\r\nabcd\r\n${LAST}`,
      'a byte beyond ASCII': `4\xa0\r\nabcd\r\n${LAST}`,
      'seventeen digits': `10000000000000004\r\nabcd\r\n${LAST}`,
      'which overflows to 4 in 64 bits': `10000000000000004\r\nabcd\r\n${LAST}`,
      'a hundred zeros and one digit beyond the limit': `1${'0'.repeat(100)}\r\nabcd\r\n${LAST}`,
      'a list': `4,4\r\nabcd\r\n${LAST}`,
    }),
  )
})

t.test('line ends', async (t) => {
  await refusesAll(
    t,
    gateway,
    all({
      'LF behind the size': `4\nabcd\r\n${LAST}`,
      'CR behind the size': `4\rabcd\r\n${LAST}`,
      'CR CR LF behind the size': `4\r\r\nabcd\r\n${LAST}`,
      'LF CR behind the size': `4\n\rabcd\r\n${LAST}`,
      'nothing behind the data': `4\r\nabcd${LAST}`,
      'LF behind the data': `4\r\nabcd\n${LAST}`,
      'CR behind the data': `4\r\nabcd\r${LAST}`,
      'LF CR behind the data': `4\r\nabcd\n\r${LAST}`,
      'two bytes behind the data': `4\r\nabcdXX${LAST}`,
      'more data than the size': `4\r\nabcde\r\n${LAST}`,
      'less data than the size': `4\r\nabc\r\n${LAST}`,
      'an empty line between chunks': `4\r\nabcd\r\n\r\n${LAST}`,
      'LF behind the last size': `4\r\nabcd\r\n0\n\r\n`,
      'CR behind the last size': `4\r\nabcd\r\n0\rX\r\n`,
      'LF for the end': `4\r\nabcd\r\n0\r\n\n`,
      'LF for both': `4\r\nabcd\r\n0\n\n`,
      'CR and a byte for the end': `4\r\nabcd\r\n0\r\n\rX`,
    }),
  )
})

t.test('extensions', async (t) => {
  await refusesAll(
    t,
    gateway,
    all({
      'LF in one': `4;a\nb\r\nabcd\r\n${LAST}`,
      'CR in one': `4;a\rb\r\nabcd\r\n${LAST}`,
      'LF for its end': `4;a\nabcd\r\n${LAST}`,
      'LF in quotes': `4;a="b\nc"\r\nabcd\r\n${LAST}`,
      'CRLF in quotes': `4;a="b\r\nc"\r\nabcd\r\n${LAST}`,
      'LF behind a backslash': `4;a="b\\\nc"\r\nabcd\r\n${LAST}`,
      'an open quote': `4;a="b\r\nabcd\r\n${LAST}`,
      'bytes behind the quotes': `4;a="b"c\r\nabcd\r\n${LAST}`,
      'NUL in one': `4;a\x00b\r\nabcd\r\n${LAST}`,
      'a control byte in one': `4;a=\x01\r\nabcd\r\n${LAST}`,
      'a space in a name': `4;a b\r\nabcd\r\n${LAST}`,
      'LF in the last one': `4\r\nabcd\r\n0;a\nb\r\n\r\n`,
      'one without end': `4;${'a'.repeat(100_000)}\r\nabcd\r\n${LAST}`,
      'thousands of them': `4${';a=b'.repeat(30_000)}\r\nabcd\r\n${LAST}`,
    }),
  )
})

t.test('trailers', async (t) => {
  const trailers = (lines: string) => `4\r\nabcd\r\n0\r\n${lines}\r\n`
  await refusesAll(
    t,
    gateway,
    all({
      'a space before the colon': trailers('X-A : a\r\n'),
      'a space in the name': trailers('X A: a\r\n'),
      'no name': trailers(': a\r\n'),
      'no colon': trailers('X-A\r\n'),
      'a fold': trailers('X-A: a\r\n b\r\n'),
      'LF within': trailers('X-A: a\nX-B: b\r\n'),
      'CR within': trailers('X-A: a\rX-B: b\r\n'),
      'NUL within': trailers('X-A: a\x00\r\n'),
      'LF at the end': trailers('X-A: a\r\n').replace(/\r\n$/, '\n'),
      'a request in place of them': `4\r\nabcd\r\n0\r\nGET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n`,
      'a length': trailers('Content-Length: 4\r\n'),
      'a coding': trailers('Transfer-Encoding: chunked\r\n'),
    }),
  )
  await refusesAll(
    t,
    gateway,
    all({
      'more bytes than a header section has': trailers(`X-A: ${'a'.repeat(40_000)}\r\n`),
      'lines without end': trailers('X-A: a\r\n'.repeat(10_000)),
    }),
    'headers_too_large',
    431,
  )
})

t.test('chunked bodies that RFC 9112 allows pass, with new framing', async (t) => {
  await passesAll(
    t,
    gateway,
    all({
      'one chunk': `4\r\nabcd\r\n${LAST}`,
      none: LAST,
      several: `1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n${LAST}`,
      'zeros before a size': `0004\r\nabcd\r\n000\r\n\r\n`,
      'capital digits': `A\r\nabcdefghij\r\n${LAST}`,
      'an extension': `4;a\r\nabcd\r\n0;b\r\n\r\n`,
      'an extension with a value': `4;a=b\r\nabcd\r\n${LAST}`,
      'a quoted value': `4;a="b;\\"c"\r\nabcd\r\n${LAST}`,
      'two extensions': `4;a;b=c\r\nabcd\r\n${LAST}`,
      trailers: `4\r\nabcd\r\n0\r\nX-A: a\r\nX-B: b\r\n\r\n`,
      'a trailer with the name of an identity header': `4\r\nabcd\r\n0\r\nX-Seatgate-User: root\r\n\r\n`,
      'a request for data': `1b\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n${LAST}`,
      'a little extension on each of many chunks': `${`1;${'a'.repeat(1000)}\r\na\r\n`.repeat(15)}${LAST}`,
    }),
  )
  t.pass()
})

t.test('the upstream receives no trailer of a client', async (t) => {
  await gateway.send(chunked('4\r\nabcd\r\n0\r\nX-Seatgate-User: root\r\nX-A: trailer\r\n\r\n'), {
    answers: 1,
  })
  const [bytes = ''] = gateway.upstream.streams
  t.match(bytes, /abcd/)
  t.notMatch(bytes, /root|trailer/)
})

t.test('a body that ends before its last chunk is not a complete request', async (t) => {
  for (const body of [
    '',
    '4',
    '4\r',
    '4\r\n',
    '4\r\nab',
    '4\r\nabcd',
    '4\r\nabcd\r\n',
    '4\r\nabcd\r\n0',
    '4\r\nabcd\r\n0\r\n',
  ]) {
    const { all: answers, end } = await gateway.send(chunked(body), { finish: true })
    t.notOk(
      answers.some(({ status }) => status < 400),
      JSON.stringify(body),
    )
    t.not(end, 'open')
    t.notOk(
      gateway.upstream.requests.some(({ whole }) => whole),
      'no complete request upstream',
    )
    gateway.forget()
  }
})
