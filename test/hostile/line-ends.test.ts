/** Line ends that are not CRLF, and folded lines (RFC 9112, sections 2.2 and 5.2; CVE-2025-23167, CVE-2024-27982). */

import t from 'tap'
import { get, startGateway, passesAll, post, refusesAll } from './gateway.ts'

const gateway = await startGateway(t)

t.test('LF alone', async (t) => {
  await refusesAll(t, gateway, {
    everywhere: 'GET /docs/a HTTP/1.1\nHost: a\n\n',
    'behind the request line': 'GET /docs/a HTTP/1.1\nHost: a\r\n\r\n',
    'behind a field': 'GET /docs/a HTTP/1.1\r\nHost: a\nX-A: a\r\n\r\n',
    'behind the last field': 'GET /docs/a HTTP/1.1\r\nHost: a\n\r\n',
    'for the empty line': 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\n',
    'within a value': get('X-A: a\nb\r\n'),
    'within a name': get('X\n-A: a\r\n'),
    'before a colon': get('X-A\n: a\r\n'),
    'behind a colon': get('X-A:\n a\r\n'),
    'before a length': post('X-A: a\nContent-Length: 4\r\n', 'abcd'),
    'LF CR': 'GET /docs/a HTTP/1.1\n\rHost: a\n\r\n\r',
    'in the target': 'GET /docs/a\nb HTTP/1.1\r\nHost: a\r\n\r\n',
    'in the method': 'GE\nT /docs/a HTTP/1.1\r\nHost: a\r\n\r\n',
    'in place of a space': 'GET\n/docs/a HTTP/1.1\r\nHost: a\r\n\r\n',
  })
})

t.test('CR alone', async (t) => {
  await refusesAll(t, gateway, {
    everywhere: 'GET /docs/a HTTP/1.1\rHost: a\r\r',
    'behind the request line': 'GET /docs/a HTTP/1.1\rHost: a\r\n\r\n',
    'behind a field': 'GET /docs/a HTTP/1.1\r\nHost: a\rX-A: a\r\n\r\n',
    'at the end of a value': 'GET /docs/a HTTP/1.1\r\nHost: a\r\r\n\r\n',
    'CR CR LF everywhere': 'GET /docs/a HTTP/1.1\r\r\nHost: a\r\r\n\r\r\n',
    'CR CR LF behind the request line': 'GET /docs/a HTTP/1.1\r\r\nHost: a\r\n\r\n',
    'CR CR LF for the empty line': 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\r\n',
    'within a value': get('X-A: a\rb\r\n'),
    'behind a colon': get('X-A:\ra\r\n'),
    'within a name': get('X\r-A: a\r\n'),
    'before a colon': get('X-A\r: a\r\n'),
    'before a length': post('X-A: a\rContent-Length: 4\r\n', 'abcd'),
    'and a byte for the end of the section': 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\rX',
    'and a name at the end of the section': 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\rX-A: a\r\n\r\n',
    'in place of a space': 'GET\r/docs/a HTTP/1.1\r\nHost: a\r\n\r\n',
  })
  const inTarget = { 'in the target': 'GET /docs/a\rb HTTP/1.1\r\nHost: a\r\n\r\n' }
  await refusesAll(t, gateway, inTarget, 'path_ambiguous')
})

t.test('folded lines', async (t) => {
  await refusesAll(t, gateway, {
    'with a space': get('X-A: a\r\n b\r\n'),
    'with a tab': get('X-A: a\r\n\tb\r\n'),
    'with white space alone': get('X-A: a\r\n \r\n'),
    'of an empty value': get('X-A:\r\n b\r\n'),
    'the Host': 'GET /docs/a HTTP/1.1\r\nHost:\r\n a\r\n\r\n',
    'the last': 'GET /docs/a HTTP/1.1\r\nHost: a\r\n b\r\n\r\n',
    'the first': 'GET /docs/a HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n',
    'the first, with a tab': 'GET /docs/a HTTP/1.1\r\n\tX-A: a\r\nHost: a\r\n\r\n',
    'the request line': 'GET /docs/a\r\n HTTP/1.1\r\nHost: a\r\n\r\n',
    'a length': post('Content-Length:\r\n 4\r\n', 'abcd'),
    'onto a length': post('Content-Length: 4\r\n 0\r\n', 'abcd'),
    'before a length': post('X-A: a\r\n Content-Length: 4\r\n'),
    'before a coding': post('X-A: a\r\n Transfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    'with a name and a colon': get('X-A: a\r\n X-B: b\r\n'),
  })
})

t.test('empty lines before a request line are ignored', async (t) => {
  await passesAll(t, gateway, {
    one: `\r\n${get('')}`,
    several: `${'\r\n'.repeat(20)}${get('')}`,
    'one behind a body': `${post('Content-Length: 4\r\n', 'abcd')}\r\n`,
  })
})

t.test('other line separators end no line', async (t) => {
  await refusesAll(t, gateway, {
    'a vertical tab': get('X-A: a\x0bX-B: b\r\n'),
    'a form feed': get('X-A: a\x0cX-B: b\r\n'),
    NUL: get('X-A: a\x00X-B: b\r\n'),
    'a record separator': get('X-A: a\x1eX-B: b\r\n'),
  })
  // NEL and U+2028 are ordinary bytes of a value, and are forwarded unchanged.
  await passesAll(t, gateway, {
    NEL: get('X-A: a\x85X-B: b\r\n'),
    'U+2028': get('X-A: a\xe2\x80\xa8X-B: b\r\n'),
  })
})
