/** The bounds of an HTTP/2 connection of a client. */

import type { SessionSettings } from '../wire/http2/http2-session.ts'
import type { ListenerSettings } from './listener-options.ts'

/** Bytes of a body that a client may send before they are read, of a stream and of a connection. */
const STREAM_WINDOW = 128 * 1024
const CONNECTION_WINDOW = 1024 * 1024

export function http2Settings({ limits }: Pick<ListenerSettings, 'limits'>): SessionSettings {
  return {
    role: 'server',
    concurrentStreams: limits.http2Streams,
    headerBytes: limits.headerBytes,
    headerFields: limits.headerFields,
    streamWindow: STREAM_WINDOW,
    connectionWindow: CONNECTION_WINDOW,
  }
}
