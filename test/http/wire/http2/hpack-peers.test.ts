/** Field blocks are exchanged with Node's HTTP/2 (nghttp2), which indexes and uses the Huffman code. */

import { once } from 'node:events'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import {
  ACK,
  CONTINUATION,
  END_HEADERS,
  END_STREAM,
  frame,
  HEADERS,
  PADDED,
  PREFACE,
  SETTINGS,
  WITH_PRIORITY,
} from '../../../../src/http/wire/http2/http2-frames.ts'
import { HpackDecoder } from '../../../../src/http/wire/http2/hpack-decoder.ts'
import { HpackEncoder } from '../../../../src/http/wire/http2/hpack-encoder.ts'
import { listen } from '../../../support/listen.ts'
import { decoded, indexed } from './field-blocks.ts'

const HEADER_TABLE_SIZE = 1

function tableSize(bytes: number): Buffer {
  const payload = Buffer.alloc(6)
  payload.writeUInt16BE(HEADER_TABLE_SIZE, 0)
  payload.writeUInt32BE(bytes, 2)
  return frame(SETTINGS, 0, 0, payload)
}

/** Answers each request with the fields that it is told. */
class Peer {
  readonly decoder = new HpackDecoder()
  readonly encoder = new HpackEncoder()
  readonly requests: string[][] = []
  /** Name, value, … */
  reply: readonly string[] = []
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #block = Buffer.alloc(0)
  #prefaced = false

  constructor(socket: Socket, tableBytes: number) {
    this.#socket = socket
    socket.write(tableSize(tableBytes))
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => {})
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    if (!this.#prefaced && this.#received.length >= PREFACE.length) {
      this.#prefaced = true
      this.#received = this.#received.subarray(PREFACE.length)
    }
    while (this.#prefaced && this.#received.length >= 9) {
      const end = 9 + this.#received.readUIntBE(0, 3)
      if (this.#received.length < end) return
      const [type = 0, flags = 0] = this.#received.subarray(3)
      this.#frame(type, flags, this.#received.readUInt32BE(5), this.#received.subarray(9, end))
      this.#received = this.#received.subarray(end)
    }
  }

  #frame(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === SETTINGS && flags !== ACK) this.#settings(payload)
    if (type !== HEADERS && type !== CONTINUATION) return
    const from = type === HEADERS ? (flags & PADDED ? 1 : 0) + (flags & WITH_PRIORITY ? 5 : 0) : 0
    const padding = type === HEADERS && flags & PADDED ? (payload[0] ?? 0) : 0
    this.#block = Buffer.concat([this.#block, payload.subarray(from, payload.length - padding)])
    if (!(flags & END_HEADERS)) return
    this.requests.push(decoded(this.decoder, this.#block))
    this.#block = Buffer.alloc(0)
    this.#answer(stream)
  }

  #settings(payload: Buffer): void {
    for (let at = 0; at < payload.length; at += 6)
      if (payload.readUInt16BE(at) === HEADER_TABLE_SIZE)
        this.encoder.setTableSize(payload.readUInt32BE(at + 2))
    this.#socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)))
  }

  #answer(stream: number): void {
    this.encoder.begin()
    for (let i = 0; i < this.reply.length; i += 2)
      this.encoder.field(this.reply[i] ?? '', this.reply[i + 1] ?? '')
    this.#socket.write(frame(HEADERS, END_STREAM | END_HEADERS, stream, this.encoder.end()))
  }
}

async function session(t: Test, tableBytes: number, headerTableSize: number) {
  const server = createServer()
  const client: ClientHttp2Session = connect(`http://127.0.0.1:${await listen(t, server)}`, {
    settings: { headerTableSize },
  })
  client.on('error', (error) => t.error(error))
  const [socket] = (await once(server, 'connection')) as [Socket]
  const peer = new Peer(socket, tableBytes)
  t.teardown(() => client.destroy())
  await once(client, 'remoteSettings')
  return { client, peer }
}

/** @param fields name, value, … */
async function exchange(client: ClientHttp2Session, fields: readonly string[]): Promise<string[]> {
  const request = client.request(fields)
  const [, , raw] = (await once(request, 'response')) as [IncomingHttpHeaders, number, string[]]
  request.resume()
  await once(request, 'close')
  return raw
}

const NAMES = [
  'x-a',
  'x-b',
  'accept',
  'accept-encoding',
  'user-agent',
  'x-long-name-of-a-field',
  'authorization',
]
const value = fc.oneof(
  fc.constantFrom('', 'a', 'gzip, deflate', '*/*', 'x'.repeat(300), 'y'.repeat(5000)),
  fc
    .array(fc.oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })), {
      maxLength: 60,
    })
    .map((codes) => String.fromCharCode(...codes)),
)
/** Each name at most once, as Node refuses some that repeat. */
const fields = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: 7, selector: ([name]) => name })
  .map((pairs) => pairs.flat())

for (const [tableBytes, theirs] of [
  [4096, 4096],
  [0, 0],
  [200, 100],
  [65_536, 65_536],
] as const)
  t.test(`tables of ${tableBytes} and ${theirs} bytes`, async (t) => {
    const { client, peer } = await session(t, tableBytes, theirs)
    const pairs = fc.sample(fc.tuple(fields, fields), { numRuns: 150, seed: tableBytes })
    for (const [request, response] of pairs) {
      const sent = [':method', 'GET', ':path', '/a', ':scheme', 'http', ':authority', 'a.example', ...request]
      peer.reply = [':status', '200', ...response]
      t.same(await exchange(client, sent), peer.reply)
      t.same(peer.requests.at(-1), sent)
    }
    const newest = () => decoded(peer.decoder, indexed(62))
    if (tableBytes > 100) t.equal(newest().length, 2, 'its table was used')
    else t.throws(newest, { message: 'An index is out of range.' }, 'its table was not used')
  })
