/** Requests whose fields HTTP/1.1 could read differently (RFC 9113, sections 8.2 and 8.3). */

import { type Fields, GET } from './raw-http2.ts'

const without = (name: string): Fields => GET.filter(([each]) => each !== name)
const changed = (name: string, value: string): Fields =>
  GET.map(([each, old]) => [each, each === name ? value : old])
export const and = (...more: [string, string][]): Fields => [...GET, ...more]

/** A rule of RFC 9113, and a request that breaks it. Each gets a 400 of its own. */
export const MALFORMED: readonly (readonly [string, Fields])[] = [
  ['8.2 upper case in a name', and(['X-Upper', '1'])],
  ['8.2.1 CR in a name', and(['x\rinjected', '1'])],
  ['8.2.1 LF in a name', and(['x\ninjected', '1'])],
  ['8.2.1 a colon in a name', and(['x:injected', '1'])],
  ['8.2.1 a space in a name', and(['x injected', '1'])],
  ['8.2.1 NUL in a name', and(['x\0', '1'])],
  ['8.2.1 a byte over 0x7f in a name', and(['x\xe9', '1'])],
  ['8.2.1 an empty name', and(['', '1'])],
  ['8.2.1 CR in a value', and(['x-a', '1\rx-b: 2'])],
  ['8.2.1 LF in a value', and(['x-a', '1\nx-b: 2'])],
  ['8.2.1 CR LF in a value', and(['x-a', '1\r\nx-seatgate-user: root'])],
  ['8.2.1 NUL in a value', and(['x-a', '1\0'])],
  ['8.2.1 a leading space in a value', and(['x-a', ' 1'])],
  ['8.2.1 a trailing tab in a value', and(['x-a', '1\t'])],
  ['8.2.1 DEL in a value', and(['x-a', '\x7f'])],
  ['8.2.2 connection', and(['connection', 'close'])],
  ['8.2.2 keep-alive', and(['keep-alive', '1'])],
  ['8.2.2 proxy-connection', and(['proxy-connection', 'close'])],
  ['8.2.2 transfer-encoding', and(['transfer-encoding', 'chunked'])],
  ['8.2.2 upgrade', and(['upgrade', 'websocket'])],
  ['8.2.2 te other than trailers', and(['te', 'gzip'])],
  ['8.3 an unknown pseudo-header field', [...GET, [':unknown', '1']].slice(-1).concat(GET) as Fields],
  ['8.3 a pseudo-header field behind others', [['x-a', '1'], ...GET]],
  ['8.3 a pseudo-header field of responses', [...GET, [':status', '200']] as Fields],
  ['8.3 :protocol without the setting', [...GET, [':protocol', 'websocket']] as Fields],
  ['8.3.1 two of :method', [[':method', 'GET'], ...GET]],
  ['8.3.1 two of :path', [...GET, [':path', '/other']] as Fields],
  ['8.3.1 two of :authority', [...GET, [':authority', 'other']] as Fields],
  ['8.3.1 no :method', without(':method')],
  ['8.3.1 no :scheme', without(':scheme')],
  ['8.3.1 no :path', without(':path')],
  ['8.3.1 an empty :path', changed(':path', '')],
  ['8.3.1 another scheme', changed(':scheme', 'ftp')],
  ['8.3.1 a :path without a slash', changed(':path', 'admin')],
  ['8.3.1 an absolute :path', changed(':path', 'https://evil/admin')],
  ['8.3.1 * for GET', changed(':path', '*')],
  ['a space in :path', changed(':path', '/a b')],
  ['CR LF in :path', changed(':path', '/ HTTP/1.1\r\nx: y')],
  ['a space in :method', changed(':method', 'GET /x')],
  ['CR LF in :method', changed(':method', 'GET\r\n')],
  ['an empty :method', changed(':method', '')],
  ['8.5 CONNECT', changed(':method', 'CONNECT')],
  ['CR LF in :authority', changed(':authority', 'a\r\nx: y')],
  ['8.3.1 a host that differs from :authority', and(['host', 'b.example'])],
  ['two of host', [...without(':authority'), ['host', 'a'], ['host', 'a']]],
  ['two of content-length', and(['content-length', '0'], ['content-length', '0'])],
  ['a content-length that is no number', and(['content-length', '+1'])],
  ['a content-length without a body', and(['content-length', '5'])],
]
