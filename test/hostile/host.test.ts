/** The host of a request must be unambiguous (RFC 9112, section 3.2; RFC 9110, section 7.2). */

import t from 'tap'
import { startGateway, passesAll, refusesAll } from './gateway.ts'

const gateway = await startGateway(t)

const to = (...hosts: string[]) =>
  `GET /docs/a HTTP/1.1\r\n${hosts.map((host) => `Host:${host}\r\n`).join('')}\r\n`

t.test('no host, or several', async (t) => {
  await refusesAll(t, gateway, {
    none: to(),
    'none, but similar fields':
      'GET /docs/a HTTP/1.1\r\nX-Host: a\r\nX-Forwarded-Host: a\r\nHosts: a\r\n\r\n',
    'none, in absolute form': 'GET http://a/docs/a HTTP/1.1\r\n\r\n',
    two: to(' a', ' b'),
    'two equal ones': to(' a', ' a'),
    'two, the first empty': to('', ' a'),
    'two, the second empty': to(' a', ''),
    'two with different case': 'GET /docs/a HTTP/1.1\r\nHOST: a\r\nhost: a\r\n\r\n',
    'two with others between': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nX-A: a\r\nHost: a\r\n\r\n',
    'two in HTTP/1.0': 'GET /docs/a HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n',
    'a hundred': to(...Array.from({ length: 100 }, () => ' a')),
  })
})

t.test('invalid hosts', async (t) => {
  const values = [
    '',
    ' ',
    ' a b',
    ' a, b',
    ' a,b:c',
    ' a/b',
    ' /a',
    ' a\\b',
    ' a?b',
    ' a#b',
    ' u@a',
    ' u:p@a',
    ' http://a',
    ' a:',
    ' a:b',
    ' a:80:80',
    ' a:-1',
    ' a:+80',
    ' a:999999',
    ' a:80a',
    ' :80',
    ' :',
    ' [',
    ' []',
    ' [::1',
    ' ::1',
    ' [::1]a',
    ' [::1]:',
    ' [g::1]',
    ' [::1%25eth0]',
    ' a"b',
    ' "a"',
    ' <a>',
    ' a|b',
    ' a^b',
    ' a`b',
    ' {a}',
    ' a\xe9',
    ' \xc3\xa9',
    ' a\x00',
    ' a\x01',
    ' a\x7f',
    ' a\tb',
    ' a%',
    ' a%zz',
    ' a%2',
  ]
  await refusesAll(t, gateway, Object.fromEntries(values.map((each) => [JSON.stringify(each), to(each)])))
})

t.test('valid hosts', async (t) => {
  const values = [
    ' a',
    'a',
    '\ta\t',
    ' A.B-c_d~',
    ' a.',
    ' 127.0.0.1',
    ' 127.0.0.1:8080',
    ' [::1]',
    ' [::1]:80',
    ' [::ffff:127.0.0.1]',
    ' a:0',
    ' a:65535',
    ' xn--caf-dma.example',
    ' a%20b',
  ]
  await passesAll(t, gateway, Object.fromEntries(values.map((each) => [JSON.stringify(each), to(each)])))
})

t.test("the upstream receives the target's Host instead", async (t) => {
  await gateway.send(to(' evil.example:81'), { answers: 1 })
  const [request] = gateway.upstream.requests
  t.equal(
    request?.fields
      .filter(([name]) => name.toLowerCase() === 'host')
      .map(([, value]) => value)
      .join(),
    new URL(gateway.upstream.url).host,
  )
})
