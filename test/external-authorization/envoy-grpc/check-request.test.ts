/** CheckRequests as Envoy writes them, and bytes that are none. */

import fc from 'fast-check'
import t from 'tap'
import { MalformedMessage } from '../../../src/lib/protobuf/protobuf-reader.ts'
import { ProtobufWriter } from '../../../src/lib/protobuf/protobuf-writer.ts'
import {
  type CheckRequest,
  readCheckRequest,
} from '../../../src/external-authorization/envoy-grpc/check-request.ts'
import { checkRequest, serialized } from './envoy.ts'

function isMalformed(bytes: Uint8Array): boolean {
  try {
    readCheckRequest(bytes)
    return false
  } catch (error) {
    return error instanceof MalformedMessage
  }
}

/** A CheckRequest with these fields in `attributes.request.http`. */
function ofHttp(write: (http: ProtobufWriter) => void): Buffer {
  const writer = new ProtobufWriter()
  writer.message(1, (attributes) => attributes.message(4, (request) => request.message(2, write)))
  return writer.finish()
}

t.test('reads what Envoy writes', async (t) => {
  const headers = [
    ['x-api-key', 'a'],
    ['x-api-key', 'b'],
    ['x-name', '\xff\xe4'],
  ] as const
  const raw = readCheckRequest(serialized(checkRequest({ headers })))
  t.equal(raw.source, '203.0.113.9')
  t.match(raw.http, {
    method: 'GET',
    path: '/v1/trainings/7',
    host: 'api.example.com',
    protocol: 'HTTP/1.1',
    isRaw: true,
  })
  t.same(raw.http?.headers.slice(8), headers.flat(), 'each line, byte for byte')
  const merged = readCheckRequest(serialized(checkRequest({ headers }, false)))
  t.equal(merged.http?.isRaw, false)
  t.same(merged.http?.headers.slice(8), ['x-api-key', 'a,b', 'x-name', '!!'])
})

t.test('a question of TCP, and an empty one, have no request', async (t) => {
  t.same(readCheckRequest(Buffer.alloc(0)), { http: null, source: null })
  const source = { address: { socket_address: { address: '2001:db8::1' } } }
  t.same(readCheckRequest(serialized({ attributes: { source } })), { http: null, source: '2001:db8::1' })
})

t.test('an IPv4-mapped address is IPv4, in any spelling', async (t) => {
  const sourceOf = (address: string) => {
    const source = { address: { socket_address: { address } } }
    return readCheckRequest(serialized({ attributes: { source } })).source
  }
  for (const mapped of [
    '::ffff:203.0.113.7',
    '::FFFF:cb00:7107',
    '0:0:0:0:0:ffff:203.0.113.7',
    '::0:ffff:CB00:7107',
  ])
    t.equal(sourceOf(mapped), '203.0.113.7', mapped)
  t.equal(sourceOf('::ffff:0:1'), '0.0.0.1')
  for (const other of [
    '2001:db8::ffff:cb00:7107',
    '64:ff9b::203.0.113.7',
    '::ffff:0:cb00:7107',
    '::203.0.113.7',
  ])
    t.equal(sourceOf(other), other)
})

t.test('an address that is none of IP names no client', async (t) => {
  for (const address of [{ pipe: { path: '/run/envoy' } }, { socket_address: { address: 'localhost' } }, {}])
    t.equal(readCheckRequest(serialized({ attributes: { source: { address } } })).source, null)
})

t.test('header_map wins over headers, also when it is empty', async (t) => {
  const headers = { 'x-api-key': 'merged' }
  const read = (http: object) => readCheckRequest(serialized({ attributes: { request: { http } } })).http
  t.match(read({ headers, header_map: { headers: [{ key: 'a', raw_value: Buffer.from('b') }] } }), {
    headers: ['a', 'b'],
    isRaw: true,
  })
  t.same(read({ headers, header_map: {} })?.headers, [])
  t.match(read({ headers }), { headers: ['x-api-key', 'merged'], isRaw: false })
})

t.test('a field, a key or a value that comes twice is refused', async (t) => {
  t.ok(isMalformed(ofHttp((http) => http.string(4, '/a').string(4, '/b'))), 'two paths')
  t.ok(isMalformed(ofHttp((http) => http.string(2, 'GET').string(2, 'GET'))), 'two methods')
  const entry = (value: string) => (writer: ProtobufWriter) => writer.string(1, 'space').string(2, value)
  t.ok(isMalformed(ofHttp((http) => http.message(3, entry('a')).message(3, entry('b')))), 'a key of headers')
  t.ok(isMalformed(ofHttp((http) => http.message(13, () => {}).message(13, () => {}))), 'two header maps')
  const header = (writer: ProtobufWriter) => writer.string(1, 'a').string(2, 'b').bytes(3, Buffer.from('c'))
  t.ok(isMalformed(ofHttp((http) => http.message(13, (map) => map.message(1, header)))), 'two values')
  const whole = serialized(checkRequest({}))
  t.ok(isMalformed(Buffer.concat([whole, whole])), 'two requests in one message')
})

t.test('a query or a fragment beside the path is refused', async (t) => {
  t.ok(isMalformed(ofHttp((http) => http.string(7, 'a=b'))))
  t.ok(isMalformed(ofHttp((http) => http.string(8, 'a'))))
  t.notOk(isMalformed(ofHttp((http) => http.string(7, '').string(8, ''))))
})

t.test('random bytes, and changed questions, are read or refused', async (t) => {
  const whole = serialized(
    checkRequest({
      headers: [
        ['space', 'main'],
        ['cookie', 'a=b'],
      ],
    }),
  )
  const changed = fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, byte]) => {
    const bytes = Buffer.from(whole)
    bytes[at] = byte
    return bytes
  })
  const cut = fc.nat(whole.length).map((end) => whole.subarray(0, end))
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), changed, cut), (bytes) => {
      let read: CheckRequest
      try {
        read = readCheckRequest(bytes)
      } catch (error) {
        return error instanceof MalformedMessage
      }
      return read.http === null || read.http.headers.length % 2 === 0
    }),
  )
  t.pass()
})
