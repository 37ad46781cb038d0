/** WebSockets and downloads that last until the gateway cuts them, and when their clients see it. */

import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import type { Test } from 'tap'
import { startWebSocketUpstream } from '../../test/websocket/support.ts'

export const OPEN_ROUTES = ['GET /v1/live: trainings:list', 'GET /v1/downloads: trainings:list']

/** The path of each kind. */
const PATHS = { websocket: '/v1/live', stream: '/v1/downloads' } as const

export type Kind = keyof typeof PATHS

export interface OpenExchange {
  readonly kind: Kind
  /** Resolves with the time at which the client sees the end, in ms since the epoch. */
  readonly end: Promise<number>
  close(): void
}

/** An upstream that keeps both kinds open, and answers all else at once. Resolves with its origin. */
export async function startOpenUpstream(t: Test): Promise<string> {
  const { url } = await startWebSocketUpstream(t, {
    silent: true,
    serve(request, response) {
      if (request.url === PATHS.stream) response.writeHead(200).write('begun')
      else response.end('yes')
    },
  })
  return url
}

/** Resolves once the response has begun. */
export function openExchange(
  port: number,
  kind: Kind,
  headers: Readonly<Record<string, string>>,
): Promise<OpenExchange> {
  const upgrade = kind === 'websocket' ? handshake() : []
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [`GET ${PATHS[kind]} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...upgrade, ...fields, '', '']
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const end = Promise.withResolvers<number>()
  const opened = Promise.withResolvers<OpenExchange>()
  const begin = kind === 'websocket' ? '\r\n\r\n' : 'begun'
  let received = ''
  let isOpen = false
  const onEnd = () => {
    if (isOpen) end.resolve(Date.now())
    else opened.reject(new Error(received || 'a connection was closed'))
  }
  socket.setEncoding('latin1').on('error', () => {})
  socket.on('close', onEnd).write(head.join('\r\n'))
  socket.on('data', (text: string) => {
    // A download sends nothing more; the first bytes of a WebSocket are those of its Close frame.
    if (isOpen) return onEnd()
    received += text
    if (!/^HTTP\/1.1 (?:101|200) /.test(received)) return void socket.end()
    if (!received.includes(begin)) return
    isOpen = true
    opened.resolve({ kind, end: end.promise, close: () => socket.destroy() })
  })
  return opened.promise
}

function handshake(): string[] {
  const key = randomBytes(16).toString('base64')
  return [
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
  ]
}
