/** The request that a question describes, by the rules for requests on the wire. */

import { Socket } from 'node:net'
import t from 'tap'
import { originalOfCheck } from '../../../src/external-authorization/envoy-grpc/original-of-check.ts'
import { readCheckRequest } from '../../../src/external-authorization/envoy-grpc/check-request.ts'
import { Refusal } from '../../../src/model/errors.ts'
import { checkRequest, type ClientsRequest, serialized } from './envoy.ts'

const socket = new Socket()

function asked(request: ClientsRequest, isRaw = true) {
  return originalOfCheck(readCheckRequest(serialized(checkRequest(request, isRaw))).http, socket)
}

/** The code of the refusal; null: there is a request. */
function codeOf(request: ClientsRequest, isRaw = true): string | null {
  const result = asked(request, isRaw)
  return result instanceof Refusal ? result.code : null
}

/** With these fields in `attributes.request.http`. */
function codeOfHttp(http: object): string | null {
  const result = originalOfCheck(
    readCheckRequest(serialized({ attributes: { request: { http } } })).http,
    socket,
  )
  return result instanceof Refusal ? result.code : null
}

t.test('describes the request', async (t) => {
  const request = asked({ method: 'POST', path: '/a?b', protocol: 'HTTP/2', headers: [['te', 'trailers']] })
  if (request instanceof Refusal) throw new Error(request.detail)
  t.match(request, { method: 'POST', url: '/a?b', host: 'api.example.com', hosts: 1, http2: true, minor: 1 })
  t.same(request.rawHeaders, ['host', 'api.example.com', 'te', 'trailers'])
  t.match(asked({ protocol: 'HTTP/1.0' }), { minor: 0, http2: false })
  t.match(asked({ protocol: 'HTTP/3' }), { http2: true })
  t.match(asked({ protocol: '' }), { minor: 1, http2: false })
})

t.test('no host that a client writes reaches the sign-in', async (t) => {
  const request = asked({
    headers: [
      ['x-forwarded-host', 'evil.example'],
      ['forwarded', 'host=evil'],
      ['a', 'b'],
    ],
  })
  if (request instanceof Refusal) throw new Error(request.detail)
  t.same(request.rawHeaders, ['host', 'api.example.com', 'a', 'b'])
})

t.test('lines that can not be read in one way are refused', async (t) => {
  t.equal(codeOf({ headers: [['a b', 'c']] }), 'request_malformed')
  t.equal(codeOf({ headers: [['a', 'b\r\nx-seatgate-user: root']] }), 'request_malformed')
  t.equal(codeOf({ headers: [['a', 'b\0']] }), 'request_malformed')
  t.equal(codeOf({ headers: [['', 'b']] }), 'request_malformed')
  t.equal(codeOf({ headers: [[':other', 'b']] }), 'request_malformed')
  t.equal(codeOf({ host: 'a\r\nspace: main' }), 'request_malformed')
  t.equal(
    codeOf({
      headers: [
        ['content-length', '1'],
        ['content-length', '2'],
      ],
    }),
    'request_malformed',
  )
})

t.test('the method and the target are those of a request line', async (t) => {
  t.equal(codeOf({ method: 'CONNECT' }), 'request_malformed')
  t.equal(codeOf({ method: 'GE T' }), 'request_malformed')
  t.equal(codeOf({ method: '' }), 'request_malformed')
  for (const path of ['', 'a', 'http://a/b', '/a b', '/\xc3\xa4', '/a\r\n', '*'])
    t.equal(codeOf({ path }), 'path_ambiguous', JSON.stringify(path))
  t.equal(codeOfHttp({}), 'request_malformed', 'no method and no path')
})

t.test('pseudo-header fields agree with the attributes, or the question is refused', async (t) => {
  const http = { method: 'GET', path: '/a', host: 'x', protocol: 'HTTP/1.1' }
  const pseudo = (key: string, value: string) => ({ key, raw_value: Buffer.from(value) })
  const map = (...headers: object[]) => ({ ...http, header_map: { headers } })
  t.equal(codeOfHttp(map(pseudo(':path', '/a'), pseudo(':method', 'GET'), pseudo(':authority', 'x'))), null)
  t.equal(codeOfHttp(map(pseudo(':path', '/b'))), 'request_malformed')
  t.equal(codeOfHttp(map(pseudo(':path', '/a'), pseudo(':path', '/b'))), 'request_malformed')
  t.equal(codeOfHttp(map(pseudo(':method', 'POST'))), 'request_malformed')
  t.equal(codeOfHttp(map(pseudo(':authority', 'y'))), 'request_malformed')
  t.equal(codeOfHttp(map(pseudo('host', 'y'))), 'request_malformed')
  t.equal(codeOfHttp({ ...http, headers: { ':path': '/b' } }), 'request_malformed')
  t.equal(codeOfHttp(map(pseudo('host', 'x'))), null)
})

t.test('a byte that Envoy has replaced is not taken for another', async (t) => {
  // `/a!` stands for `/a\xff` as well, and Envoy forwards that.
  t.equal(codeOf({ path: '/a\xff' }), 'request_malformed', 'the raw path differs')
  t.equal(codeOf({ path: '/a!' }), null, 'the raw path is the same')
  t.equal(codeOf({ path: '/a\xff' }, false), 'request_malformed')
  t.equal(codeOf({ path: '/a!' }, false), 'request_malformed', 'it may be either')
  t.equal(codeOf({ path: '/a?b!' }, false), null, 'a query passes as it came')
  t.equal(codeOfHttp({ method: 'GET', path: '/a!', host: 'x', header_map: {} }), 'request_malformed')
})

t.test('a merged Cookie with a session may hide another', async (t) => {
  const session = '__Host-seatgate_session=x'
  t.equal(
    codeOf(
      {
        headers: [
          ['cookie', 'a=b'],
          ['cookie', session],
        ],
      },
      false,
    ),
    'request_malformed',
  )
  t.equal(codeOf({ headers: [['cookie', 'a=b,c']] }, false), null, 'without a session nothing depends on it')
  t.equal(codeOf({ headers: [['cookie', session]] }, false), null)
  t.equal(
    codeOf({
      headers: [
        ['cookie', 'a=b'],
        ['cookie', session],
      ],
    }),
    null,
    'each line is there',
  )
})

t.test('a Cookie with a session that is no UTF-8 could not be answered, and is refused', async (t) => {
  const session = '__Host-seatgate_session=x'
  t.equal(codeOf({ headers: [['cookie', `a=\xff; ${session}`]] }), 'request_malformed')
  t.equal(codeOf({ headers: [['cookie', `a=\xc3\xa4; ${session}`]] }), null)
  t.equal(codeOf({ headers: [['cookie', 'a=\xff']] }), null, 'it passes as it came')
})

t.test('a Cookie line that is no UTF-8 beside one with a session is refused too', async (t) => {
  const session = ['cookie', '__Host-seatgate_session=x; c=d'] as const
  const other = ['cookie', 'a=\xff'] as const
  t.equal(codeOf({ headers: [other, session] }), 'request_malformed')
  t.equal(codeOf({ headers: [session, other] }), 'request_malformed')
  t.equal(codeOf({ headers: [session, ['cookie', 'a=\xc3\xa4']] }), null)
  t.equal(codeOf({ headers: [other, other] }), null, 'both pass as they came')
})
