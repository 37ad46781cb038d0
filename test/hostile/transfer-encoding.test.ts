/** Transfer-Encoding in every form except the valid one (RFC 9112, sections 6.1 and 6.3). */

import t from 'tap'
import { chunked, startGateway, passesAll, post, refusesAll } from './gateway.ts'

const gateway = await startGateway(t)

const BODY = '4\r\nabcd\r\n0\r\n\r\n'
const coded = (value: string) => post(`Transfer-Encoding:${value}\r\n`, BODY)

t.test('any value except "chunked"', async (t) => {
  const values = {
    nothing: '',
    'white space only': ' \t',
    identity: ' identity',
    gzip: ' gzip',
    'gzip under chunks': ' gzip, chunked',
    'chunks under gzip': ' chunked, gzip',
    'chunks under identity': ' chunked, identity',
    'identity under chunks': ' identity, chunked',
    'chunks in chunks': ' chunked, chunked',
    'nothing first': ' , chunked',
    'nothing first, without a space': ' ,chunked',
    'nothing last': ' chunked,',
    'a letter before': ' xchunked',
    'a letter behind': ' chunkedx',
    'a letter less': ' chunke',
    'a semicolon': ' chunked;',
    'a parameter': ' chunked;q=1',
    'a parameter, spaced': ' chunked ; a=b',
    'a tab behind': ' chunked\t',
    quotes: ' "chunked"',
    'single quotes': " 'chunked'",
    'a word more': ' chunked identity',
    'a word before': ' cow chunked',
    'a vertical tab before': ' \x0bchunked',
    'a form feed behind': ' chunked\x0c',
    'a no-break space before': ' \xa0chunked',
    'a control byte before': ' \x01chunked',
    'NUL behind': ' chunked\x00',
    'NUL within': ' chun\x00ked',
    'DEL behind': ' chunked\x7f',
    'a long s': ' chun\xc5\xbfked',
    'the Kelvin sign': ' chun\xe2\x84\xaaed',
    'a bare CR before': ' \rchunked',
    'a bare LF before': ' \nchunked',
    'a fold before': '\r\n chunked',
    'a fold behind': ' chunked\r\n\tidentity',
    'a fold within': ' chun\r\n ked',
  }
  await refusesAll(
    t,
    gateway,
    Object.fromEntries(Object.entries(values).map(([name, each]) => [name, coded(each)])),
  )
})

t.test('similar field names', async (t) => {
  await refusesAll(t, gateway, {
    'a space behind': post('Transfer-Encoding : chunked\r\n', BODY),
    'a tab behind': post('Transfer-Encoding\t: chunked\r\n', BODY),
    'a space before': post(' Transfer-Encoding: chunked\r\n', BODY),
    'a space within': post('Transfer Encoding: chunked\r\n', BODY),
    'NUL behind': post('Transfer-Encoding\x00: chunked\r\n', BODY),
    'a bare CR before': post('X-A: a\rTransfer-Encoding: chunked\r\n', BODY),
    'a bare LF before': post('X-A: a\nTransfer-Encoding: chunked\r\n', BODY),
    'two colons apart': post('Transfer-Encoding: : chunked\r\n', BODY),
    'as a colon\u2019s name': post(': Transfer-Encoding: chunked\r\n', BODY),
  })
})

t.test('more framings than one', async (t) => {
  const both = (first: string, second: string) => post(`${first}\r\n${second}\r\n`, BODY)
  await refusesAll(t, gateway, {
    'a length, then chunks': both('Content-Length: 14', 'Transfer-Encoding: chunked'),
    'chunks, then a length': both('Transfer-Encoding: chunked', 'Content-Length: 14'),
    'a length of nothing and chunks': both('Content-Length: 0', 'Transfer-Encoding: chunked'),
    'a length and identity': both('Content-Length: 14', 'Transfer-Encoding: identity'),
    'a length and nothing': both('Content-Length: 14', 'Transfer-Encoding:'),
    'a broken length and chunks': both('Content-Length: x', 'Transfer-Encoding: chunked'),
    'chunks twice': both('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
    'chunks, then identity': both('Transfer-Encoding: chunked', 'Transfer-Encoding: identity'),
    'identity, then chunks': both('Transfer-Encoding: identity', 'Transfer-Encoding: chunked'),
    'chunks, then nothing': both('Transfer-Encoding: chunked', 'Transfer-Encoding:'),
    'nothing, then chunks': both('Transfer-Encoding:', 'Transfer-Encoding: chunked'),
    'gzip, then chunks': both('Transfer-Encoding: gzip', 'transfer-encoding: chunked'),
    'with different case': both('TRANSFER-ENCODING: chunked', 'Content-Length: 14'),
    'the length with an empty line’s look': post(
      'Content-Length: 14\r\nX-A:\r\nTransfer-Encoding: chunked\r\n',
      BODY,
    ),
  })
})

t.test('chunks in HTTP/1.0', async (t) => {
  await refusesAll(t, gateway, {
    'HTTP/1.0': `POST /open HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${BODY}`,
    'HTTP/1.0, kept alive': `POST /open HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n${BODY}`,
  })
})

t.test('the valid form, with every method, is one request upstream', async (t) => {
  const inner = 'GET /docs/inner HTTP/1.1\r\nHost: a\r\n\r\n'
  const body = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const bytes = `${method} /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`
    await passesAll(t, gateway, { [method]: bytes })
  }
})

t.test('its value is case-insensitive, and similar field names are ordinary fields', async (t) => {
  await passesAll(t, gateway, {
    'capital letters': coded(' CHUNKED'),
    'spaces before': coded('   chunked'),
    'a tab before': coded('\tchunked'),
    'spaces behind': coded(' chunked  '),
    'none before it': coded('chunked'),
    'an underscore beside a length': post('Transfer_Encoding: chunked\r\nContent-Length: 4\r\n', 'abcd'),
    'an underscore beside chunks': chunked(BODY, 'Transfer_Encoding: identity\r\n'),
    'named by Connection': chunked(BODY, 'Connection: Transfer-Encoding\r\n'),
    TE: chunked(BODY, 'TE: trailers, chunked\r\n'),
  })
})
