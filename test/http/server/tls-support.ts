/** A listener with TLS that says what it was asked, and clients that report how a handshake ended. */

import { once } from 'node:events'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import type { Limits, ListenerTls, ServerCertificate } from '../../../src/config/config.ts'
import { Exchange } from '../../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../../src/http/server/client-request.ts'
import type { HandshakeFault } from '../../../src/http/server/handshake-faults.ts'
import { TlsAcceptor } from '../../../src/http/server/tls-acceptor.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { Authority, type Identity } from '../../proxy/authority.ts'
import { type ListenerParts, openListener } from '../../support/listener.ts'

export const authority = new Authority()
/** Of the certificates of `authority`. */
export const USUAL = {
  minVersion: '1.2',
  ciphers: ['ECDHE-ECDSA-AES128-GCM-SHA256'],
  clientCa: null,
  clientAuth: 'none',
} as const
export const SECRETS = [Buffer.alloc(32, 'secret')]

export function certificate(names: readonly string[], from: Identity = authority.issue({ names })) {
  return { ...from, names } satisfies ServerCertificate
}

export function acceptor(
  certificates: readonly ServerCertificate[],
  tls: Partial<ListenerTls> = {},
  http2 = false,
) {
  const settings = { certificates, ...USUAL, ...tls } as const
  return new TlsAcceptor({ tls: settings, http2, secrets: SECRETS })
}

export async function openSecured(
  t: Test,
  tls: TlsAcceptor | (TlsAcceptor | null)[],
  {
    limits = {},
    handle = answer,
    ...parts
  }: ListenerParts & { limits?: Partial<Limits>; handle?: typeof answer } = {},
) {
  const failed: (HandshakeFault & { peer: string | undefined; listener: string })[] = []
  const completed: { version: string; resumed: boolean }[] = []
  const listener = await openListener(handle, limits, {
    ...parts,
    settings: { tls: [tls].flat(), ...parts.settings },
    events: {
      handshakeFailed: (fault, name, peer) => failed.push({ ...fault, listener: name, peer }),
      handshakeCompleted: (version, resumed) => completed.push({ version, resumed }),
      ...parts.events,
    },
  })
  t.teardown(() => listener.close(0))
  return { listener, port: listener.address.port, failed, completed }
}

/** Answers with the target, or the length of the body. */
export function answer(request: ClientRequest, response: Exchange['response']): Exchange {
  let length = 0
  const end = () => {
    const text = request.length === 0 ? request.url : `${length} bytes`
    response.writeHead(200, ResponseFields.of(['Content-Length', String(text.length)]))
    response.end(text)
  }
  if (request.complete) end()
  else request.deliver({ data: (chunk) => void (length += chunk.length), end, aborted() {} })
  return new Exchange(request, response, 'id', 0)
}

/** Resolves when the handshake is complete. */
export async function secure(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: authority.cert, servername: 'a.example', ...options })
  await once(socket, 'secureConnect')
  return socket
}

/** How a connection with one request ended: the status line, or why there is none. */
export async function ask(
  port: number,
  options: ConnectionOptions = {},
  request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
) {
  const socket = connect({ port, host: '127.0.0.1', ca: authority.cert, servername: 'a.example', ...options })
  let text = ''
  const ended = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (/\r\n\r\n./s.test(text)) resolve(text)
    })
    socket.on('error', (error: Error & { code?: string }) => resolve(`${error.code} ${error.message}`))
    socket.on('close', () => resolve(text === '' ? 'closed' : text))
  })
  socket.write(request)
  const result = await ended
  socket.destroy()
  return result
}
