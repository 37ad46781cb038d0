/** Content-Length that two parsers could read differently (RFC 9112, section 6.3; CVE-2022-32214, CVE-2026-1525). */

import t from 'tap'
import { startGateway, passesAll, post, refusesAll } from './gateway.ts'

const gateway = await startGateway(t)

const sized = (...values: string[]) =>
  post(values.map((value) => `Content-Length: ${value}\r\n`).join(''), 'abcd')

t.test('one number, of digits only', async (t) => {
  const values = {
    empty: '',
    'a sign': '+4',
    'below zero': '-4',
    'minus nothing': '-0',
    'in hexadecimal': '0x4',
    'in octal by prefix': '0o4',
    'with a fraction': '4.0',
    'with an exponent': '4e0',
    'with an underscore': '0_4',
    'with a space inside': '1 4',
    'with a tab inside': '1\t4',
    'with a letter behind': '4a',
    'with a letter before': 'a4',
    'in quotes': '"4"',
    'a list': '4, 4',
    'a list without a space': '4,4',
    'a list of different ones': '4,5',
    'an empty list': '4,',
    'a list with an empty first item': ',4',
    'with parameters': '4;q=1',
    'a superscript': '\xb2',
    'digits of another script': '\xd9\xa4',
    'a no-break space before': '\xa04',
    'a vertical tab before': '\x0b4',
    'a form feed behind': '4\x0c',
    'NUL behind': '4\x00',
    'a control byte behind': '4\x1f',
    'DEL behind': '4\x7f',
    'one more than 64 bits hold': '18446744073709551616',
    'which overflows to 4 in 64 bits': '18446744073709551620',
    'of a thousand digits': '9'.repeat(1000),
    'zeros before': '0004',
    words: 'four',
    Infinity: 'Infinity',
    NaN: 'NaN',
  }
  await refusesAll(
    t,
    gateway,
    Object.fromEntries(Object.entries(values).map(([name, each]) => [name, sized(each)])),
  )
})

t.test('one field line', async (t) => {
  await refusesAll(t, gateway, {
    'two equal ones': sized('4', '4'),
    'two different ones': sized('4', '5'),
    'two, the first of them empty': sized('0', '4'),
    three: sized('4', '4', '4'),
    'two with different case': post('Content-Length: 4\r\nCONTENT-LENGTH: 4\r\n', 'abcd'),
    'two with others between': post('Content-Length: 4\r\nX-A: a\r\nX-B: b\r\ncontent-length: 0\r\n', 'abcd'),
    'two in a GET': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n',
    'two in HTTP/1.0': 'POST /open HTTP/1.0\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd',
  })
})

t.test('a length beyond any real one', async (t) => {
  const huge = { '2^63': sized('9223372036854775808') }
  await refusesAll(t, gateway, huge, 'body_too_large', 413)
})

t.test('unusual valid lengths pass unchanged', async (t) => {
  await passesAll(t, gateway, {
    'one length': sized('4'),
    'white space around': post('Content-Length: \t 4 \t\r\n', 'abcd'),
    none: 'POST /open HTTP/1.1\r\nHost: a\r\n\r\n',
    nothing: post('Content-Length: 0\r\n'),
    'a GET with a body': 'GET /open HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd',
    'a DELETE with a body': 'DELETE /open HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd',
    'an OPTIONS with a body': 'OPTIONS /open HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd',
  })
})

t.test('similar field names are ordinary fields', async (t) => {
  await passesAll(t, gateway, {
    'an underscore': post('Content_Length: 40\r\nContent-Length: 4\r\n', 'abcd'),
    'a dot': post('Content.Length: 40\r\nContent-Length: 4\r\n', 'abcd'),
    'a suffix': post('Content-Lengths: 40\r\nContent-Length: 4\r\n', 'abcd'),
    'named by Connection': post('Connection: Content-Length\r\nContent-Length: 4\r\n', 'abcd'),
  })
})

t.test('a request hidden in a body stays in the body', async (t) => {
  const inner = 'GET /docs/inner HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const bytes = `${method} /open HTTP/1.1\r\nHost: a\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`
    await passesAll(t, gateway, { [method]: bytes })
  }
})
