import fc from 'fast-check'
import t from 'tap'
import { Refusal } from '../../../src/model/errors.ts'
import { readTarget as readTargetWithin, unreadPath } from '../../../src/decision/router/path.ts'
import { anyText } from '../../lib/any-text.ts'

const MAX_TARGET = 8192
const readTarget = (target: string, host: string | null) => readTargetWithin(target, host, MAX_TARGET)

function read(target: string, host: string | null = 'gw.example') {
  const result = readTarget(target, host)
  if (result instanceof Refusal) return result.code
  // No entry of a table takes it.
  return result.hiddenSeparator ? 'path_ambiguous' : result.path + result.query
}

t.test('valid targets pass unchanged', async (t) => {
  for (const target of [
    '/',
    '/v1/trainings',
    '/v1/trainings/',
    '/a/...',
    '/a/..b/.c',
    "/!$&'()*+,=:@-._~",
    '/a|b^c`{d}"<e>[f]',
    '/a?b=c&d=%2F..%2f%00%zz//../',
    '/?',
    '/a?x=\\',
    '/%E2%82%AC',
    '/a%252e%252e/b',
    '/%3Bx',
    '/a%20b',
  ]) {
    t.equal(read(target), target)
  }
})

t.test('escapes of unreserved characters are decoded, others get upper-case hex', async (t) => {
  t.equal(read('/%61%5A%30%2d%5f%7e'), '/aZ0-_~')
  t.equal(read('/v1/tr%61inings?a=%61'), '/v1/trainings?a=%61')
  t.equal(read('/caf%c3%a9%3f%3a'), '/caf%C3%A9%3F%3A')
  t.equal(read('/a%2eb'), '/a.b')
})

const refused: Record<string, string[]> = {
  'an encoded backslash, also behind an encoded slash': ['/a%5cb', '/a%5C', '/a%2f%5cb', '/%5c%2f'],
  'an encoded slash beside dots': [
    '/..%2f',
    '/..%2Fadmin',
    '/a%2f..',
    '/a%2F.',
    '/a%2F../b',
    '/%2e%2e%2fadmin',
    '/a%2f%2E%2e%2Fb',
    '/a/.%2fb',
    '/%2f..',
    '/a%2F..;x/b',
    '/a%2F..%3bx/b',
    '/a/..%3Bx',
    '/.%3b/a',
    '/%2e%3B',
  ],
  'an encoded slash beside another invalid part': ['/a%2f%00', '/a%2f%ff', '/a%2f%', '//a%2fb', '/a%2fb//'],
  'an encoded NUL or control byte': ['/a%00', '/%0a', '/%0D%0A', '/%7f', '/%1F'],
  'a dot segment, plain or encoded': [
    '/.',
    '/..',
    '/a/../b',
    '/a/./b',
    '/a/..',
    '/%2e%2e/admin',
    '/a/.%2E/b',
    '/a/%2e',
    '/public/%2e%2e/admin',
    '/..;/admin',
    '/a/.;x=y/b',
  ],
  'an escape that is not two hex digits': ['/%', '/a%2', '/%zz', '/%u002f', '/a%%41', '/%-1'],
  'escapes that are not UTF-8': [
    '/%ff',
    '/%c3',
    '/%c3/%a9',
    '/%c0%af',
    '/%ed%a0%80',
    '/%f5%80%80%80',
    '/%C3a',
  ],
  'an empty segment': ['//', '//a', '/a//b', '/a//', '//evil.example/a'],
  'a raw backslash, fragment, control or non-ASCII byte': [
    '/a\\b',
    '/public\\..\\admin',
    '/a#b',
    '/admin#/public',
    '/a?b#c',
    '/a\u0001',
    '/a b',
    '/caf\u00e9',
    '/a\u007f',
  ],
}
for (const [what, targets] of Object.entries(refused)) {
  t.test(`refused: ${what}`, async (t) => {
    for (const target of targets) t.equal(read(target), 'path_ambiguous', JSON.stringify(target))
  })
}

t.test("a semicolon is reported, for the upstream's settings to decide", async (t) => {
  t.match(readTarget('/a;b/c', null), { semicolon: true })
  t.match(readTarget('/a%3bb', null), { semicolon: true }, 'the escape too')
  t.match(readTarget('/a?x;y%3b', null), { semicolon: false })
})

t.test(
  "an encoded slash is reported, for the upstream's settings to decide, and stays in its segment",
  async (t) => {
    for (const [sent, path] of [
      ['/a%2fb', '/a%2Fb'],
      ['/%2F', '/%2F'],
      ['/%40scope%2fname', '/%40scope%2Fname'],
      ['/a%2F%2Fb/...%2f..c', '/a%2F%2Fb/...%2F..c'],
    ] as const)
      t.match(readTarget(sent, null), { path, encodedSlash: true })
    t.match(readTarget('/a%252fb', null), { path: '/a%252fb', encodedSlash: false })
    t.match(readTarget('/a?b=%2F', null), { query: '?b=%2F', encodedSlash: false })
  },
)

t.test('the query passes unchanged, also bytes beyond ASCII', async (t) => {
  t.equal(read('/a?q=caf\xc3\xa9&\xff\x80=\xe2\x82\xac'), '/a?q=caf\xc3\xa9&\xff\x80=\xe2\x82\xac')
  t.equal(read('/caf\xc3\xa9?q=\xc3\xa9'), 'path_ambiguous')
})

t.test('absolute-form must name the same host as Host', async (t) => {
  t.equal(read('http://gw.example/a?b'), '/a?b')
  t.equal(read('HTTPS://GW.example/a'), '/a')
  t.equal(read('http://gw.example'), '/')
  t.equal(read('http://gw.example?a'), '/?a')
  for (const target of [
    'http://evil.example/a',
    'http://gw.example:81/a',
    'http://u@gw.example/a',
    'http://gw.example\\@evil/a',
    'http:///a',
    'ftp://gw.example/a',
    '*',
    '',
    'a',
    'gw.example:443',
    '?a',
  ]) {
    t.equal(read(target), 'request_malformed', target)
  }
})

t.test('a target longer than the limit', async (t) => {
  t.equal(read(`/${'a'.repeat(MAX_TARGET - 1)}`).length, MAX_TARGET)
  t.equal(read(`/${'a'.repeat(MAX_TARGET)}`), 'uri_too_long')
})

t.test('normalization is idempotent and adds no segment', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '.',
      '%',
      '%2e',
      '%2F',
      '%5c',
      ';',
      '%3b',
      '//',
      '..',
      '%61',
      '%c3%a9',
      '%00',
      'a',
      'Z',
      '~',
      '?',
      '#',
    ),
    anyText({ maxLength: 2 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const result = readTarget(`/${pieces.join('')}`, null)
      if (result instanceof Refusal) return
      const again = readTarget(result.path + result.query, null)
      if (again instanceof Refusal) throw new Error(`refused on second reading: ${again.code}`)
      if (again.path !== result.path || again.query !== result.query) throw new Error('not stable')
      // Full decoding, as any server may do it, gives the same segments.
      const decoded = result.path.split('/').map(decodeURIComponent)
      if (result.hiddenSeparator !== decoded.some((each) => /[\\\0-\x1f\x7f]/.test(each)))
        throw new Error('hidden separator not reported')
      const apart = decoded.flatMap((each) => each.split('/'))
      if (apart.some((each) => /^\.\.?(?:;|$)/.test(each))) throw new Error('ambiguous')
      if (result.encodedSlash !== decoded.some((each) => each.includes('/')))
        throw new Error('slash not reported')
      if (result.semicolon !== decoded.some((each) => each.includes(';')))
        throw new Error('semicolon not reported')
      if (new URL(`http://h${result.path}`).pathname.split('/').length !== decoded.length)
        throw new Error('URL differs')
    }),
    { numRuns: 20_000 },
  )
})

t.test('what the log has of a target is read as the target was', async () => {
  const part = fc.constantFrom(
    '/',
    'a',
    '.',
    '%2e',
    '%2F',
    '%3B',
    ';',
    '?',
    '#',
    '\\',
    '%zz',
    'é',
    'http://h',
    ':',
    '%C3',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const target = parts.join('')
      const result = readTarget(target, null)
      if (result instanceof Refusal) {
        // Of an absolute form the log has the path alone, which may be readable where a host was not.
        if (result.code !== 'path_ambiguous') return
        if (read(unreadPath(target), null) !== 'path_ambiguous') throw new Error(target)
      } else if (!result.hiddenSeparator && read(result.path, null) !== result.path) throw new Error(target)
    }),
    { numRuns: 5000 },
  )
})
