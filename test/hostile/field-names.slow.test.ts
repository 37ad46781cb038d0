/** Header fields with names and bytes on which parsers disagree (RFC 9110, section 5; RFC 9112, section 5). */

import t from 'tap'
import { fieldOf } from './reading.ts'
import { get, startGateway, passesAll, refusesAll } from './gateway.ts'

const gateway = await startGateway(t)

/** The characters that RFC 9110 allows in a name, besides letters and digits. */
const TCHAR = "!#$%&'*+-.^_`|~"

t.test('white space around a name', async (t) => {
  await refusesAll(t, gateway, {
    'a space before the colon': get('X-A : a\r\n'),
    'a tab before the colon': get('X-A\t: a\r\n'),
    'two spaces before the colon': get('X-A  : a\r\n'),
    'a space within': get('X A: a\r\n'),
    'a tab within': get('X\tA: a\r\n'),
    'a space before the first': 'GET /docs/a HTTP/1.1\r\n X-A: a\r\nHost: a\r\n\r\n',
    'a no-break space before the colon': get('X-A\xa0: a\r\n'),
    'a vertical tab before the colon': get('X-A\x0b: a\r\n'),
    'before the colon of Host': 'GET /docs/a HTTP/1.1\r\nHost : a\r\n\r\n',
    'before the colon of a second Host': get('Host : b\r\n'),
    'before the colon of Content-Length': get('Content-Length : 4\r\n'),
    'before the colon of Space': get('Space : s1\r\n'),
    'before the colon of x-api-key': get('x-api-key : k\r\n'),
  })
})

t.test('no name, or no colon', async (t) => {
  await refusesAll(t, gateway, {
    'a colon first': get(': a\r\n'),
    'a colon alone': get(':\r\n'),
    'two colons first': get(':: a\r\n'),
    'a name alone': get('X-A\r\n'),
    'a name and a value': get('X-A a\r\n'),
    'a space alone': get(' \r\n'),
    'the request line again': get('GET /docs/b HTTP/1.1\r\n'),
  })
})

t.test('each byte that is invalid in a name', async (t) => {
  const cases: Record<string, string> = {}
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    if (/[A-Za-z0-9:]/.test(byte) || TCHAR.includes(byte)) continue
    cases[`0x${code.toString(16)}`] = get(`X${byte}A: a\r\n`)
  }
  t.equal(Object.keys(cases).length, 256 - 62 - 1 - TCHAR.length)
  await refusesAll(t, gateway, cases)
})

t.test('each byte that is invalid in a value', async (t) => {
  const cases: Record<string, string> = {}
  for (let code = 0; code < 0x20; code++)
    if (code !== 9) cases[`0x${code.toString(16)}`] = get(`X-A: a${String.fromCharCode(code)}b\r\n`)
  cases['0x7f'] = get('X-A: a\x7fb\r\n')
  await refusesAll(t, gateway, cases)
})

t.test('each valid byte passes unchanged', async (t) => {
  let value = ''
  for (let code = 0x20; code < 256; code++) if (code !== 0x7f) value += String.fromCharCode(code)
  await gateway.send(get(`X-A: a\t${value}b\r\n`), { answers: 1 })
  const [request] = gateway.upstream.requests
  t.equal(request && fieldOf(request, 'x-a'), `a\t${value}b`)
  await gateway.agrees(t)
})

t.test('names of JavaScript object properties, and unusual valid names', async (t) => {
  const names = [
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toString',
    'valueOf',
    '0',
    '1',
    '-',
    '_',
  ]
  for (const name of [...names, ...TCHAR]) {
    await gateway.send(get(`${name}: a\r\n`), { answers: 1 })
    const [request] = gateway.upstream.requests
    t.equal(request && fieldOf(request, name.toLowerCase()), 'a', name)
    await gateway.agrees(t)
    gateway.forget()
  }
})

t.test('a value may be empty, white space, or long', async (t) => {
  await passesAll(t, gateway, {
    empty: get('X-A:\r\n'),
    'white space': get('X-A: \t \r\n'),
    colons: get('X-A: :a:b::\r\n'),
    'the same name many times': get('X-A: a\r\n'.repeat(50)),
  })
})

t.test('Connection cannot remove fields that frame, route or identify a request', async (t) => {
  const names =
    'Host, Content-Length, Transfer-Encoding, X-Seatgate-User, X-Request-Id, X-Forwarded-For, Connection'
  await passesAll(t, gateway, {
    'all of them': `POST /open HTTP/1.1\r\nHost: a\r\nConnection: ${names}\r\nContent-Length: 4\r\n\r\nabcd`,
    'with chunks': `POST /open HTTP/1.1\r\nHost: a\r\nConnection: ${names}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n`,
  })
})
