/** An upstream that writes frames of HTTP/2 one by one: valid ones and others. */

import type { Test } from 'tap'
import {
  ACK,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame as wholeFrame,
  GOAWAY,
  HEADERS,
  SETTINGS,
} from '../../../src/http/wire/http2/http2-frames.ts'
import { literal } from '../../http/wire/http2/field-blocks.ts'
import { RawHttp2, type ReceivedFrame } from '../../support/raw-http2.ts'
import { serveRaw } from '../support.ts'

export * from '../../../src/http/wire/http2/http2-frames.ts'

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  return wholeFrame(type, flags, stream, Buffer.from(payload))
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A field block of literals (RFC 7541, section 6.2.2). @param fields name, value, … as latin1 */
export function block(fields: readonly string[]): Buffer {
  const pairs = Array.from({ length: fields.length / 2 }, (_, i) => fields.slice(2 * i, 2 * i + 2))
  return Buffer.concat(pairs.map(([name = '', value = '']) => literal(0x00, name, value)))
}

export function headers(stream: number, fields: readonly string[], flags: number = END_HEADERS): Buffer {
  return frame(HEADERS, flags | END_HEADERS, stream, block(fields))
}

export function data(stream: number, content: Buffer | string, flags = 0): Buffer {
  return frame(DATA, flags, stream, content)
}

export function goAway(last: number, code = 0): Buffer {
  return frame(GOAWAY, 0, 0, Buffer.concat([number(last), number(code)]))
}

/**
 * An upstream that sends empty SETTINGS, acknowledges ours, and leaves the rest to the test.
 *
 * @param onRequest called with each HEADERS frame @param settings the first frames
 */
export async function serveFrames(
  t: Test,
  onRequest: (connection: RawHttp2, stream: number, frame: ReceivedFrame) => void,
  settings: Buffer = frame(SETTINGS, 0, 0),
): Promise<{ readonly port: number; readonly connections: RawHttp2[] }> {
  const connections: RawHttp2[] = []
  const port = await serveRaw(t, (socket) => {
    const connection = new RawHttp2(socket, (received) => {
      if (received.type === SETTINGS && (received.flags & ACK) === 0) connection.frame(SETTINGS, ACK, 0)
      else if (received.type === HEADERS) onRequest(connection, received.stream, received)
    })
    connections.push(connection)
    connection.send(settings)
  })
  return { port, connections }
}

/** A whole response. */
export function answer(stream: number, text = 'good'): Buffer {
  return Buffer.concat([headers(stream, [':status', '200']), data(stream, text, END_STREAM)])
}
