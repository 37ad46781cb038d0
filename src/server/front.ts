/** The front door: the listener that requests come in by. Knows HTTP's limits and times, nothing of routes. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Address } from '../config/config.ts'
import { Refusal } from '../errors.ts'
import { MAX_HEADER_BYTES } from './guard.ts'

/** Milliseconds for a whole header section to arrive, and that an idle connection is kept. */
const HEADERS_TIMEOUT = 10_000
const KEEP_ALIVE_TIMEOUT = 75_000

/** Who answers. */
export interface Handler {
  /**
   * @param awaited the client asked to be told `100 Continue` before it sends its body
   * @returns false for what is no request: it came behind the last one of its connection, and is never answered
   */
  handle(request: IncomingMessage, response: ServerResponse, awaited: boolean): boolean
  /** A request that Node's parser gave up on. Answers on the bare socket. */
  unreadable(socket: Socket, refusal: Refusal): void
}

export interface Listener {
  readonly address: AddressInfo
  /** No new connections; requests in flight get `drain` ms to finish, and `Connection: close` with their answers. */
  close(drain: number): Promise<void>
}

/**
 * Resolves once connections are accepted. Rejects with Node's error when the address can't be had.
 *
 * @param shared several processes listen at the address, and the kernel shares the connections out among them
 */
export async function openFront(address: Address, handler: Handler, shared = false): Promise<Listener> {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    connectionsCheckingInterval: 1000,
    // A long upload is not an attack: a body's silence is bounded where it is read.
    requestTimeout: 0,
    // Refused by the guard, with the gateway's own answer.
    requireHostHeader: false,
    noDelay: true,
  })
  // Node would drop fields beyond its limit silently; the guard counts and refuses them.
  server.maxHeadersCount = 0
  let draining = false
  const answering = new Set<ServerResponse>()
  const answered = function (this: ServerResponse) {
    answering.delete(this)
    if (draining) setImmediate(() => server.closeIdleConnections())
  }
  const answer = (awaited: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    if (draining) response.shouldKeepAlive = false
    if (!handler.handle(request, response, awaited)) return
    answering.add(response)
    response.once('close', answered)
  }
  server.on('request', answer(false))
  server.on('checkContinue', answer(true))
  // Anything but 100-continue: the guard refuses it.
  server.on('checkExpectation', answer(false))
  server.on('connect', (_request, socket) => {
    // Node has let go of this socket: an error that nobody listens for would end the process.
    socket.on('error', () => {})
    handler.unreadable(socket as Socket, noTunnel)
  })
  server.on('clientError', (error, socket) => handler.unreadable(socket as Socket, refusalOf(error)))
  await listen(server, address, shared)
  return {
    address: server.address() as AddressInfo,
    close: (drain) => {
      draining = true
      for (const response of answering) response.shouldKeepAlive = false
      return close(server, drain)
    },
  }
}

const noTunnel = new Refusal('request_malformed', 'CONNECT: this is no tunnel.')
const tooSlow = new Refusal('request_timeout', 'The header section did not arrive in time.')
const tooLarge = new Refusal(
  'headers_too_large',
  `The header section is larger than ${MAX_HEADER_BYTES} bytes.`,
)
const badTarget = new Refusal('path_ambiguous', 'The request target has a byte that is not visible ASCII.')
const unparsable = new Refusal('request_malformed', 'The request is not valid HTTP/1.1.')

function refusalOf(error: Error & { code?: string }): Refusal {
  if (error.code === 'HPE_HEADER_OVERFLOW') return tooLarge
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow
  if (error.code === 'HPE_INVALID_URL') return badTarget
  return unparsable
}

/**
 * Whether the kernel can share connections out (SO_REUSEPORT). Where it can't, node:cluster does: connections then pass
 * through the primary, and one that is on its way to a worker that dies is left hanging.
 */
export const kernelShares = process.platform === 'linux' || process.platform === 'freebsd'

export function listen(server: Server, { host, port }: Address, shared = false): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096, reusePort: shared && kernelShares }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Waits for requests in flight, at most `drain` ms; what is open then is cut. */
function close(server: Server, drain: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drain)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
