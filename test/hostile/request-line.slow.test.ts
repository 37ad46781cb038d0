/** Invalid request lines (RFC 9112, section 3), and methods and forms that a gateway does not serve. */

import t from 'tap'
import { startGateway, passesAll, refusesAll } from './gateway.ts'

const gateway = await startGateway(t)

const line = (text: string) => `${text}\r\nHost: a\r\n\r\n`

t.test('methods', async (t) => {
  await refusesAll(t, gateway, {
    'in small letters': line('get /docs/a HTTP/1.1'),
    'in mixed letters': line('Get /docs/a HTTP/1.1'),
    'a letter more': line('GETT /docs/a HTTP/1.1'),
    'a letter less': line('GE /docs/a HTTP/1.1'),
    unknown: line('FROBNICATE /docs/a HTTP/1.1'),
    'known to Node.js, not registered': line('PURGE /docs/a HTTP/1.1'),
    'another of these': line('M-SEARCH /docs/a HTTP/1.1'),
    'one that is listed, in small letters': line('list /docs/a HTTP/1.1'),
    'one that is listed, in mixed letters': line('List /docs/a HTTP/1.1'),
    'one that is listed, and more': line('LISTS /docs/a HTTP/1.1'),
    'ANY, as in route tables': line('ANY /docs/a HTTP/1.1'),
    PRI: line('PRI /docs/a HTTP/1.1'),
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
    'of RTSP': line('DESCRIBE /docs/a RTSP/1.0'),
    'of RTSP, in HTTP': line('GET_PARAMETER /docs/a HTTP/1.1'),
  })
  await refusesAll(t, gateway, { TRACE: line('TRACE /docs/a HTTP/1.1') }, 'method_not_allowed', 405)
})

t.test('white space', async (t) => {
  await refusesAll(t, gateway, {
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
  await refusesAll(t, gateway, unread, 'path_ambiguous')
})

t.test('versions', async (t) => {
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
    gateway,
    Object.fromEntries([...versions, ...odd].map((each) => [each, line(`GET /docs/a ${each}`)])),
  )
  await refusesAll(t, gateway, {
    'a line of HTTP/0.9': 'GET /docs/a\r\n',
    'the same, in LF': 'GET /docs/a\n',
  })
})

t.test('targets that are not paths', async (t) => {
  const targets = {
    'an asterisk for GET': 'GET *',
    'an asterisk for OPTIONS, without a route': 'OPTIONS *',
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
    'an IPv6 host': 'GET http://[::1]/docs/a',
  }
  await refusesAll(
    t,
    gateway,
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
    gateway,
    Object.fromEntries(Object.entries(unread).map(([name, each]) => [name, line(`${each} HTTP/1.1`)])),
    'path_ambiguous',
  )
})

t.test('bytes that are invalid in a target', async (t) => {
  const cases: Record<string, string> = {}
  for (let code = 0x80; code < 0x100; code++)
    cases[`0x${code.toString(16)}`] = line(`GET /docs/${String.fromCharCode(code)} HTTP/1.1`)
  for (let code = 0x01; code < 0x20; code++)
    if (![9, 10, 12, 13].includes(code))
      cases[`0x${code.toString(16)}`] = line(`GET /docs/${String.fromCharCode(code)} HTTP/1.1`)
  cases.NUL = line('GET /docs/\x00 HTTP/1.1')
  cases.DEL = line('GET /docs/\x7f HTTP/1.1')
  for (let code = 0x01; code < 0x20; code++)
    if (![9, 10, 12, 13].includes(code))
      cases[`0x${code.toString(16)} behind UTF-8 in the query`] = line(
        `GET /docs/a?\xc3\xa9${String.fromCharCode(code)} HTTP/1.1`,
      )
  cases['NUL behind UTF-8 in the query'] = line('GET /docs/a?\xc3\xa9\x00 HTTP/1.1')
  cases['DEL behind UTF-8 in the query'] = line('GET /docs/a?\xc3\xa9\x7f HTTP/1.1')
  cases['beyond ASCII in path and query'] = line('GET /docs/\xc3\xa9?\xc3\xa9 HTTP/1.1')
  cases['beyond ASCII in the host'] = line('GET http://\xc3\xa9/docs/a?\xc3\xa9 HTTP/1.1')
  await refusesAll(t, gateway, cases, 'path_ambiguous')
})

t.test('each byte beyond ASCII in a query passes unchanged', async (t) => {
  for (let code = 0x80; code < 0x100; code++) {
    const target = `/docs/a?${String.fromCharCode(code)}=%e9&\xe2\x82\xac`
    await gateway.send(line(`GET ${target} HTTP/1.1`), { answers: 1 })
    t.equal(gateway.upstream.requests[0]?.target, target, `0x${code.toString(16)}`)
    await gateway.agrees(t)
    gateway.forget()
  }
  await passesAll(t, gateway, {
    'cut within a character': ['GET /docs/a?\xc3', '\xa9 HTTP/1.1\r\nHost: a\r\n\r\n'],
    'behind a query of its own kind': line('GET /docs/a?a?\xc3\xa9? HTTP/1.1'),
    'in absolute form': line('GET http://a/docs/a?\xc3\xa9 HTTP/1.1'),
    'in a long query': [`GET /docs/a?${'\xc3\xa9'.repeat(1500)}`, '\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n'],
  })
  await refusesAll(t, gateway, {
    'a space behind UTF-8': line('GET /docs/a?\xc3\xa9 b HTTP/1.1'),
    'another version behind UTF-8': line('GET /docs/a?\xc3\xa9 HTTP/1.2'),
    'no version behind UTF-8': line('GET /docs/a?\xc3\xa9'),
    'a line feed behind UTF-8': 'GET /docs/a?\xc3\xa9 HTTP/1.1\nHost: a\r\n\r\n',
  })
})

t.test('methods listed in the configuration', async (t) => {
  await passesAll(t, gateway, { LIST: line('LIST /docs/a HTTP/1.1') })
  await gateway.send(line('LIST /docs/a HTTP/1.1'), { answers: 1 })
  t.equal(gateway.upstream.requests[0]?.method, 'LIST')
  const { all } = await gateway.send(line('LIST /open HTTP/1.1'), { answers: 1 })
  t.match(all, [{ status: 405, code: 'method_not_allowed' }], 'where no entry has the method')
})

t.test('ANY covers registered and listed methods, and no others', async (t) => {
  const gateway = await startGateway(t, { routes: ['ANY /*: public'], top: ['methods: [LIST, ban]'] })
  await passesAll(t, gateway, {
    LIST: line('LIST /docs/a HTTP/1.1'),
    ban: line('ban /docs/a HTTP/1.1'),
    PROPFIND: line('PROPFIND /docs/a HTTP/1.1'),
    'VERSION-CONTROL': line('VERSION-CONTROL /docs/a HTTP/1.1'),
    QUERY: line('QUERY /docs/a HTTP/1.1'),
  })
  await refusesAll(t, gateway, {
    BAN: line('BAN /docs/a HTTP/1.1'),
    PURGE: line('PURGE /docs/a HTTP/1.1'),
    CONNECT: line('CONNECT /docs/a HTTP/1.1'),
  })
  await refusesAll(t, gateway, { TRACE: line('TRACE /docs/a HTTP/1.1') }, 'method_not_allowed', 405)
})

t.test('absolute form with the same host as Host', async (t) => {
  const absolute = (target: string, host = 'gw.example') => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  await passesAll(t, gateway, {
    plain: absolute('http://gw.example/docs/a'),
    'in capital letters': absolute('HTTP://GW.EXAMPLE/docs/a'),
    'with a port': absolute('http://gw.example:8080/docs/a', 'gw.example:8080'),
    https: absolute('https://gw.example/docs/a?x=y'),
  })
  await gateway.send(absolute('http://gw.example/docs/a?x=//b'), { answers: 1 })
  t.equal(gateway.upstream.requests[0]?.target, '/docs/a?x=//b', 'the upstream receives a path')
})

t.test('HTTP/1.0 passes, and closes unless keep-alive is requested', async (t) => {
  const plain = await gateway.send('GET /docs/a HTTP/1.0\r\n\r\n')
  t.match(plain, { end: 'closed', all: [{ status: 200, closes: true }] })
  const kept = await gateway.send('GET /docs/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'.repeat(2), {
    answers: 2,
  })
  t.same(
    kept.all.map(({ status }) => status),
    [200, 200],
  )
  await gateway.agrees(t)
})

t.test('forms that lenient parsers accept: several spaces, and other protocol names', async (t) => {
  await refusesAll(t, gateway, {
    'two spaces before the target': line('GET  /docs/a HTTP/1.1'),
    'three behind it': line('GET /docs/a   HTTP/1.1'),
    RTSP: line('GET /docs/a RTSP/1.1'),
    ICE: line('SOURCE /docs/a ICE/1.0'),
    'HTTP/1.2': line('GET /docs/a HTTP/1.2'),
  })
})
