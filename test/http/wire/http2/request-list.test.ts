/** Requests of HTTP/2: one test a rule. What is accepted is what the parser of HTTP/1.1 accepts. */

import fc from 'fast-check'
import t from 'tap'
import { checkRequestTrailers, RequestListReader } from '../../../../src/http/wire/http2/request-list.ts'
import { MalformedRequest } from '../../../../src/http/wire/malformed-request.ts'
import { requestGrammar } from '../../../../src/http/wire/request-parser.ts'

const requestFields = (list: readonly string[]) => new RequestListReader().read(list)

/** The message of the refusal, or null. */
function refusal(read: () => unknown): string | null {
  try {
    read()
    return null
  } catch (error) {
    if (error instanceof MalformedRequest) return error.message
    throw error
  }
}

const HEAD = [':method', 'GET', ':scheme', 'https', ':authority', 'a.example', ':path', '/a?b']

/** The list with one pseudo-header field changed; null removes it. */
function withField(name: string, value: string | null): string[] {
  const at = HEAD.indexOf(name)
  return value === null ? HEAD.toSpliced(at, 2) : HEAD.with(at + 1, value)
}

const refusalOf = (list: readonly string[]) => refusal(() => requestFields(list))
const invalid = (what: string) => `The request is not valid HTTP/2: ${what}.`

t.test('a request as HTTP/1.1 has it', async (t) => {
  const { method, target, section, length } = requestFields([...HEAD, 'accept', '*/*', 'te', 'trailers'])
  t.match(
    { method, target, host: section.host, length },
    { method: 'GET', target: '/a?b', host: 'a.example', length: null },
  )
  t.match(section, { hosts: 1, host: 'a.example', connection: null, upgrade: null, expect: null, length: 0 })
  t.same(section.fields.pairs, ['host', 'a.example', 'accept', '*/*', 'te', 'trailers'])
  const text = section.fields.lines(0, section.fields.count)
  t.equal(text, 'host: a.example\r\naccept: */*\r\nte: trailers\r\n')
})

t.test('pseudo-header fields may have any order', async (t) => {
  const list = [':path', '/', ':authority', 'a', ':scheme', 'http', ':method', 'PUT']
  t.match(requestFields(list), { method: 'PUT', target: '/', section: { host: 'a' } })
})

t.test('a pseudo-header field is missing', async (t) => {
  for (const name of [':method', ':scheme', ':path'])
    t.equal(
      refusalOf(withField(name, null)),
      invalid(
        name === ':scheme' ? 'the scheme is neither https nor http' : 'a pseudo-header field is missing',
      ),
      name,
    )
  t.equal(refusalOf([]), invalid('a pseudo-header field is missing'))
})

t.test('a pseudo-header field is repeated', async (t) => {
  for (let i = 0; i < HEAD.length; i += 2) {
    const [name = '', value = ''] = HEAD.slice(i, i + 2)
    t.equal(refusalOf([...HEAD, name, value]), invalid('a pseudo-header field is repeated'), name)
  }
})

t.test('a pseudo-header field after a regular one', async (t) => {
  const list = [...HEAD.slice(0, 6), 'a', 'b', ...HEAD.slice(6)]
  t.equal(refusalOf(list), invalid('a pseudo-header field is missing'))
  t.equal(refusalOf([...HEAD, 'a', 'b', ':path', '/']), invalid('a pseudo-header field is out of place'))
})

t.test('an unknown pseudo-header field', async (t) => {
  for (const name of [':protocol', ':status', ':', ':Method', ':host', ':method ', '::path'])
    t.equal(refusalOf([...HEAD, name, 'websocket']), invalid('a pseudo-header field is unknown'), name)
})

t.test('the scheme is https or http', async (t) => {
  for (const scheme of ['', 'HTTPS', 'ftp', 'https ', 'https://a', 'http\r\n'])
    t.equal(refusalOf(withField(':scheme', scheme)), invalid('the scheme is neither https nor http'), scheme)
})

t.test('the method is a token, and not CONNECT', async (t) => {
  t.equal(refusalOf(withField(':method', 'CONNECT')), 'The gateway does not support CONNECT.')
  for (const method of [
    '',
    'G T',
    'GET ',
    ' GET',
    'GET\r\n',
    'GET / HTTP/1.1\r\nx: ',
    'A'.repeat(65),
    '\xe4',
  ])
    t.equal(refusalOf(withField(':method', method)), 'The method is not a token.', method)
})

t.test('the path begins with a slash, or is an asterisk for OPTIONS', async (t) => {
  const message =
    'The request target is not a path, which begins with / and has visible ASCII characters alone, with or without a query.'
  for (const path of [
    '',
    'a',
    '*',
    '?a',
    'https://a.example/',
    '/a b',
    '/a\r\nx: y',
    '/a HTTP/1.1',
    '/\0',
    '/\xe4',
    ' /',
    '/ ',
  ])
    t.equal(refusalOf(withField(':path', path)), message, JSON.stringify(path))
  const options = withField(':method', 'OPTIONS')
  t.equal(requestFields(options.with(7, '*')).target, '*')
  t.equal(refusalOf(options.with(7, '**')), message)
  t.equal(refusalOf(options.with(7, '')), message)
  t.equal(requestFields(withField(':path', '/?\xe4')).target, '/?\xe4', 'as in HTTP/1.1')
})

t.test('the authority is a valid value', async (t) => {
  for (const authority of ['a\r\nb: c', 'a\0', 'a\n', 'a\r'])
    t.equal(
      refusalOf(withField(':authority', authority)),
      invalid('a field value has a forbidden byte'),
      authority,
    )
  t.equal(refusalOf(withField(':authority', ' a')), invalid('a field value begins or ends with whitespace'))
})

t.test('Host beside the authority names the same host and port', async (t) => {
  const { section } = requestFields([...HEAD, 'a', 'b', 'host', 'a.example'])
  t.match({ hosts: section.hosts, host: section.host }, { hosts: 1, host: 'a.example' })
  t.same(section.fields.pairs, ['host', 'a.example', 'a', 'b'])
  for (const host of ['A.example', 'a.example.', 'A.EXAMPLE.'])
    t.same(requestFields([...HEAD, 'host', host]).section.fields.pairs, ['host', 'a.example'], host)
  for (const host of ['b.example', 'a.example:443', 'a.example..', '', 'a.example ', 'a.example\r\n'])
    t.equal(refusalOf([...HEAD, 'host', host]), invalid('Host differs from the authority'), host)
})

t.test('Host alone is the authority', async (t) => {
  const alone = withField(':authority', null)
  t.match(requestFields([...alone, 'host', 'b.example']), {
    section: { hosts: 1, host: 'b.example' },
  })
  t.match(requestFields(alone), { section: { hosts: 0, host: null } })
  t.equal(refusalOf([...alone, 'host', 'b\r\nc: d']), invalid('a field value has a forbidden byte'))
})

t.test('Host is repeated', async (t) => {
  const twice = ['host', 'a.example', 'host', 'a.example']
  t.equal(refusalOf([...HEAD, ...twice]), invalid('Host is repeated'))
  t.equal(refusalOf([...withField(':authority', null), ...twice]), invalid('Host is repeated'))
})

t.test('the pieces of a cookie are one field', async (t) => {
  const { section } = requestFields([
    ...HEAD,
    'cookie',
    'a=1',
    'x',
    'y',
    'cookie',
    'b=2; c=3',
    'cookie',
    'd=4',
  ])
  t.same(section.fields.pairs, ['host', 'a.example', 'x', 'y', 'cookie', 'a=1; b=2; c=3; d=4'])
  t.equal(
    refusalOf([...HEAD, 'cookie', 'a=1', 'cookie', 'b\r\nx: y']),
    invalid('a field value has a forbidden byte'),
  )
  t.equal(
    refusalOf([...HEAD, 'cookie', 'a=1', 'cookie', ' b']),
    invalid('a field value begins or ends with whitespace'),
  )
})

t.test('empty pieces of a cookie are left out, wherever they are', async (t) => {
  const joined = (...pieces: string[]) =>
    requestFields([...HEAD, ...pieces.flatMap((piece) => ['cookie', piece])]).section.fields.pairs.slice(2)
  for (const pieces of [
    ['', 'a=1', 'b=2'],
    ['a=1', '', 'b=2'],
    ['a=1', 'b=2', ''],
    ['', '', 'a=1', '', '', 'b=2', '', ''],
  ])
    t.same(joined(...pieces), ['cookie', 'a=1; b=2'], JSON.stringify(pieces))
  for (const pieces of [[''], ['', '']]) t.same(joined(...pieces), ['cookie', ''], 'as in HTTP/1.1')
  t.same(joined('a=1;', ';', 'b=2'), ['cookie', 'a=1;; ;; b=2'], 'no other piece is changed')
})

t.test('too many cookies', async (t) => {
  const pieces = (count: number) => Array.from({ length: count }, () => ['cookie', 'a']).flat()
  t.equal(refusalOf([...HEAD, ...pieces(512)]), null)
  t.equal(refusalOf([...HEAD, ...pieces(513)]), 'The request has more than 512 cookies.')
})

t.test('connection-specific fields', async (t) => {
  for (const name of ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te'])
    t.equal(refusalOf([...HEAD, name, 'chunked']), invalid('a field is specific to a connection'), name)
})

t.test('names and values that would be other lines in HTTP/1.1', async (t) => {
  const name = invalid('a field name is not a token in lower case')
  for (const each of ['A', '', 'a b', 'a:', 'a: b\r\nc', 'host\r\n', '\xe4'])
    t.equal(refusalOf([...HEAD, each, 'b']), name)
  const value = invalid('a field value has a forbidden byte')
  for (const each of ['b\r\nc: d', 'b\n', 'b\0c', 'b\x7fc']) t.equal(refusalOf([...HEAD, 'a', each]), value)
})

t.test('the length', async (t) => {
  t.equal(requestFields([...HEAD, 'content-length', '0']).length, 0)
  t.equal(requestFields([...HEAD, 'content-length', '12']).length, 12)
  t.match(refusalOf([...HEAD, 'content-length', '1', 'content-length', '1']), /one of them twice/)
  for (const value of ['', '-1', '+1', '1, 1', '0x1', '1e3', '010', '00', '0'.repeat(16)])
    t.equal(
      refusalOf([...HEAD, 'content-length', value]),
      'The Content-Length is not a number in digits without leading zeros.',
      value,
    )
  t.match(refusalOf([...HEAD, 'content-length', '9'.repeat(18)]), /larger than the gateway supports/)
})

t.test('trailers', async (t) => {
  t.equal(
    refusal(() => checkRequestTrailers(['x-a', 'b'])),
    null,
  )
  for (const [name, value] of [
    ['content-length', '1'],
    ['host', 'a'],
    ['transfer-encoding', 'chunked'],
    [':path', '/'],
    ['A', 'b'],
    ['a', 'b\r\nc: d'],
  ] as const)
    t.match(
      refusal(() => checkRequestTrailers([name, value])),
      /is not valid HTTP\/2/,
      name,
    )
})

t.test('methods and targets: exactly those of HTTP/1.1', async (t) => {
  const grammar = requestGrammar(4096)
  const isValidHttp1 = (method: string, target: string) => {
    const text = `${method} ${target} HTTP/1.1\r\nhost: a\r\n`
    const bytes = Buffer.from(text, 'latin1')
    const head = { text, bytes, offset: 0, start: 0, end: text.length }
    return (
      refusal(() => {
        const read = grammar.readHead(head, false)
        if (read.method !== method || read.target !== target)
          throw new MalformedRequest('malformed', 'another one')
      }) === null
    )
  }
  const character = fc
    .oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x3f, 0x2f, 0x61, 0x20, 0x25))
    .map((code) => String.fromCharCode(code))
  const text = fc.array(character, { maxLength: 4 }).map((characters) => characters.join(''))
  const method = fc.oneof(fc.constantFrom('GET', 'A'.repeat(64), 'A'.repeat(65)), text)
  let valid = 0
  fc.assert(
    fc.property(method, text, (method, rest) => {
      const expected = isValidHttp1(method, `/${rest}`)
      if (expected) valid++
      return (refusalOf(withField(':method', method).with(7, `/${rest}`)) === null) === expected
    }),
    { numRuns: 30_000 },
  )
  t.ok(valid > 1000, `${valid} are valid`)
})

t.test('requests of a connection are read as each alone', async (t) => {
  const field = fc.constantFrom(
    ...[
      ['a', '1'],
      ['a', '2'],
      ['b', '1'],
      ['host', 'a'],
      ['host', 'b'],
      ['cookie', 'c'],
      ['content-length', '1'],
      ['A', '1'],
    ],
  )
  const request = fc
    .record({
      authority: fc.constantFrom(null, 'a', 'b'),
      path: fc.constantFrom('/', '/a'),
      fields: fc.array(field, { maxLength: 2 }),
    })
    .map(({ authority, path, fields }) => [
      ...[':method', 'GET', ':scheme', 'https', ':path', path],
      ...(authority === null ? [] : [':authority', authority]),
      ...fields.flat(),
    ])
  let same = 0
  fc.assert(
    fc.property(fc.array(request, { maxLength: 20, size: 'max' }), (lists) => {
      const reader = new RequestListReader()
      let before: unknown = null
      for (const list of lists) {
        const contents: string[] = []
        for (const read of [() => reader.read(list), () => requestFields(list)]) {
          const message = refusal(() => {
            const { section, ...rest } = read()
            const { fields, ...values } = section
            contents.push(JSON.stringify([rest, values, fields.pairs]))
            if (section === before) same++
            if (contents.length === 1) before = section
          })
          if (message !== null) contents.push(message)
        }
        if (contents[0] !== contents[1]) return false
      }
      return true
    }),
    { numRuns: 2000 },
  )
  t.ok(same > 100, `${same} sections were used again`)
})

t.test('a large section is not kept', async (t) => {
  for (const [size, kept] of [
    [4000, true],
    [5000, false],
  ] as const) {
    const reader = new RequestListReader()
    const list = [...HEAD, 'a', 'b'.repeat(size)]
    t.equal(reader.read(list).section === reader.read(list).section, kept)
  }
})

t.test('lists of any size', async (t) => {
  for (const size of [8000, 8150, 8192, 9000, 100_000]) {
    const list = [...HEAD, 'a', 'b'.repeat(size), 'c', 'd']
    t.same(requestFields(list).section.fields.pairs, ['host', 'a.example', 'a', 'b'.repeat(size), 'c', 'd'])
    t.equal(refusalOf([...list, 'e', 'f\r\ng: h']), invalid('a field value has a forbidden byte'))
  }
})
