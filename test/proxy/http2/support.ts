/** Real upstreams of Node.js' HTTP/2 for the tests of forwarding to them. */

import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2'
import type { Test } from 'tap'
import type { UpstreamConfig } from '../../../src/config/config.ts'
import { listen } from '../../support/listen.ts'
import type { Identity } from '../authority.ts'
import { type Front, front, type FrontOptions } from '../support.ts'

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]) => void

export type Served = Awaited<ReturnType<typeof serve2>>

/** An upstream of HTTP/2 without TLS. Closed with the test. */
export function serve2(t: Test, onStream: OnStream, settings: Settings = {}) {
  return listening(t, createServer({ settings }), onStream)
}

/** The same with TLS. */
export function serveTls2(t: Test, identity: Identity, onStream: OnStream) {
  return listening(t, createSecureServer({ ...identity }), onStream)
}

async function listening(t: Test, server: Http2Server, onStream: OnStream) {
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _: number, raw: string[]) => {
    stream.on('error', () => {})
    onStream(stream, headers, raw)
  })
  server.on('sessionError', () => {})
  return { port: await listen(t, server), server, sessions }
}

/** A front to an upstream without TLS. */
export function front2(t: Test, port: number, options: FrontOptions = {}): Promise<Front> {
  return front(t, port, { protocol: 'h2c', connections: 8, uploads: 512, ...options })
}

export function tlsTarget(port: number): Pick<UpstreamConfig, 'targets' | 'protocol'> {
  return { protocol: 'h2', targets: [new URL(`https://localhost:${port}`)] }
}
