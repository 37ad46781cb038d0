/** Request lines that are none (RFC 9112, section 3), and methods and forms that are not for a gateway. */

import t from 'tap'
import { openDoor, passesAll, refusesAll } from './door.ts'

const line = (text: string) => `${text}\r\nHost: a\r\n\r\n`

t.test('methods', async (t) => {
  const door = await openDoor(t)
  await refusesAll(t, door, {
    'in small letters': line('get /docs/a HTTP/1.1'),
    'in mixed letters': line('Get /docs/a HTTP/1.1'),
    'a letter more': line('GETT /docs/a HTTP/1.1'),
    'a letter less': line('GE /docs/a HTTP/1.1'),
    unknown: line('FROBNICATE /docs/a HTTP/1.1'),
    none: line(' /docs/a HTTP/1.1'),
    'with a bracket': line('GE[T /docs/a HTTP/1.1'),
    'with a colon': line('GE:T /docs/a HTTP/1.1'),
    'with NUL': line('GET\x00 /docs/a HTTP/1.1'),
    'with a control byte': line('\x01GET /docs/a HTTP/1.1'),
    'beyond ASCII': line('G\xcbT /docs/a HTTP/1.1'),
    'a byte order mark first': line('\xef\xbb\xbfGET /docs/a HTTP/1.1'),
    'in quotes': line('"GET" /docs/a HTTP/1.1'),
    'without end': 'A'.repeat(100_000),
    CONNECT: line('CONNECT a:443 HTTP/1.1'),
    'CONNECT to a path': line('CONNECT /docs/a HTTP/1.1'),
    'CONNECT in absolute form': line('CONNECT http://a/ HTTP/1.1'),
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'of RTSP': line('DESCRIBE /docs/a RTSP/1.0'),
    'of RTSP, in HTTP': line('GET_PARAMETER /docs/a HTTP/1.1'),
  })
  await refusesAll(t, door, { TRACE: line('TRACE /docs/a HTTP/1.1') }, 'method_not_allowed', 405)
})

t.test('white space', async (t) => {
  const door = await openDoor(t)
  await refusesAll(t, door, {
    'a space first': line(' GET /docs/a HTTP/1.1'),
    'a tab first': line('\tGET /docs/a HTTP/1.1'),
    'a tab behind the method': line('GET\t/docs/a HTTP/1.1'),
    'a space within the target': line('GET /docs/ a HTTP/1.1'),
    'a space behind the version': line('GET /docs/a HTTP/1.1 '),
    'a tab behind the version': line('GET /docs/a HTTP/1.1\t'),
    'a word behind the version': line('GET /docs/a HTTP/1.1 x'),
    'a form feed behind the method': line('GET\x0c/docs/a HTTP/1.1'),
    'a no-break space behind the method': line('GET\xa0/docs/a HTTP/1.1'),
    'nothing but a method': line('GET'),
    'no target': line('GET  HTTP/1.1'),
    'no target, one space': line('GET HTTP/1.1'),
  })
  const unread = { 'a tab behind the target': line('GET /docs/a\tHTTP/1.1') }
  await refusesAll(t, door, unread, 'path_ambiguous')
})

t.test('versions', async (t) => {
  const door = await openDoor(t)
  const versions = [
    '',
    'HTTP',
    'HTTP/',
    'HTTP/1',
    'HTTP/1.',
    'HTTP/.1',
    'HTTP/0.9',
    'HTTP/1.2',
    'HTTP/1.9',
    'HTTP/2.0',
    'HTTP/2',
    'HTTP/3.0',
  ]
  const odd = [
    'HTTP/1.10',
    'HTTP/1.01',
    'HTTP/01.1',
    'HTTP/11.1',
    'HTTP/1,1',
    'HTTP/1 .1',
    'HTTP/+1.1',
    'HTTP/-1.1',
    'http/1.1',
    'Http/1.1',
    'HTTP/1.1a',
    'HTTPS/1.1',
    'ICE/1.0',
    'HTTP /1.1',
    'HTTP/a.b',
    'HTTP/1.\xb9',
    '\x00HTTP/1.1',
  ]
  await refusesAll(
    t,
    door,
    Object.fromEntries([...versions, ...odd].map((each) => [each, line(`GET /docs/a ${each}`)])),
  )
  await refusesAll(t, door, { 'a line of HTTP/0.9': 'GET /docs/a\r\n', 'the same, in LF': 'GET /docs/a\n' })
})

t.test('targets that are no path', async (t) => {
  const door = await openDoor(t)
  const targets = {
    'an asterisk for GET': 'GET *',
    'an asterisk for OPTIONS, of which no route knows': 'OPTIONS *',
    'an asterisk and more': 'OPTIONS *a',
    'another host': 'GET http://b/docs/a',
    'the host with a port': 'GET http://a:80/docs/a',
    userinfo: 'GET http://u@a/docs/a',
    'userinfo and a password': 'GET http://u:p@a/docs/a',
    'the host for userinfo': 'GET http://a@b/docs/a',
    'no host': 'GET http:///docs/a',
    'another scheme': 'GET ftp://a/docs/a',
    'a web socket': 'GET ws://a/docs/a',
    'a file': 'GET file:///etc/passwd',
    'a host with a space escaped': 'GET http://a%20/docs/a',
    'a host in other digits': 'GET http://[::1]/docs/a',
  }
  await refusesAll(
    t,
    door,
    Object.fromEntries(Object.entries(targets).map(([name, each]) => [name, line(`${each} HTTP/1.1`)])),
  )
  const unread = {
    'a host and a port': 'GET a:80',
    'a host alone': 'GET a',
    'a path without a slash': 'GET docs/a',
    'a query alone': 'GET ?a',
    'a dot': 'GET .',
    'no slashes': 'GET http:docs/a',
    'one slash': 'GET http:/docs/a',
    'a backslash for a slash': 'GET http:\\\\a/docs/a',
    'a backslash in the host': 'GET http://a\\b/docs/a',
    'a scheme of scripts': 'GET javascript:a',
    'a fragment behind the host': 'GET http://a#b',
  }
  await refusesAll(
    t,
    door,
    Object.fromEntries(Object.entries(unread).map(([name, each]) => [name, line(`${each} HTTP/1.1`)])),
    'path_ambiguous',
  )
})

t.test('bytes that no target has', async (t) => {
  const door = await openDoor(t)
  const cases: Record<string, string> = {}
  for (let code = 0x80; code < 0x100; code++)
    cases[`0x${code.toString(16)}`] = line(`GET /docs/${String.fromCharCode(code)} HTTP/1.1`)
  for (let code = 0x01; code < 0x20; code++)
    if (![9, 10, 12, 13].includes(code))
      cases[`0x${code.toString(16)}`] = line(`GET /docs/${String.fromCharCode(code)} HTTP/1.1`)
  cases.NUL = line('GET /docs/\x00 HTTP/1.1')
  cases.DEL = line('GET /docs/\x7f HTTP/1.1')
  cases['beyond ASCII in the query'] = line('GET /docs/a?\xe9 HTTP/1.1')
  await refusesAll(t, door, cases, 'path_ambiguous')
})

t.test('absolute form of the host that Host names', async (t) => {
  const door = await openDoor(t)
  const absolute = (target: string, host = 'gw.example') => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  await passesAll(t, door, {
    plain: absolute('http://gw.example/docs/a'),
    'in capital letters': absolute('HTTP://GW.EXAMPLE/docs/a'),
    'with a port': absolute('http://gw.example:8080/docs/a', 'gw.example:8080'),
    https: absolute('https://gw.example/docs/a?x=y'),
  })
  await door.send(absolute('http://gw.example/docs/a?x=//b'), { answers: 1 })
  t.equal(door.upstream.requests[0]?.target, '/docs/a?x=//b', 'upstream it is a path')
})

t.test('HTTP/1.0 passes, and closes unless told otherwise', async (t) => {
  const door = await openDoor(t)
  const plain = await door.send('GET /docs/a HTTP/1.0\r\n\r\n')
  t.match(plain, { end: 'closed', all: [{ status: 200, closes: true }] })
  const kept = await door.send('GET /docs/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'.repeat(2), {
    answers: 2,
  })
  t.same(
    kept.all.map(({ status }) => status),
    [200, 200],
  )
  await door.agrees(t)
})

t.test('what lenient parsers let pass: several spaces, and protocols of other names', async (t) => {
  const door = await openDoor(t)
  await refusesAll(t, door, {
    'two spaces before the target': line('GET  /docs/a HTTP/1.1'),
    'three behind it': line('GET /docs/a   HTTP/1.1'),
    RTSP: line('GET /docs/a RTSP/1.1'),
    ICE: line('SOURCE /docs/a ICE/1.0'),
    'HTTP/1.2': line('GET /docs/a HTTP/1.2'),
  })
})
