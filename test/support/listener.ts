/** The listener by itself, for tests of connections: no routes, no decisions. */

import type { Test } from 'tap'
import { DEFAULT_LIMITS } from './default-settings.ts'
import type { Limits } from '../../src/config/config.ts'
import type { Refusal } from '../../src/model/errors.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import type { ClientResponse } from '../../src/http/server/client-response.ts'
import { openRequestListener } from '../../src/http/server/listener.ts'
import type {
  ListenerEvents,
  ListenerSettings,
  RequestListener,
} from '../../src/http/server/listener-options.ts'
import type { RespondUnparsed } from '../../src/http/server/problem.ts'

/** The options of a listener. */
export interface ListenerParts {
  readonly events?: Partial<ListenerEvents>
  /** `tls`: one for each listening socket. */
  readonly settings?: Partial<ListenerSettings>
  /** The port of the first socket; left out: a free one. */
  readonly port?: number
}

/**
 * Opens a listener on loopback.
 *
 * @param handle makes the exchange, and may answer later
 */
export function openListener(
  handle: (request: ClientRequest, response: ClientResponse) => Exchange,
  limits: Partial<Limits> = {},
  { events: someEvents = {}, settings: someSettings = {}, port = 0 }: ListenerParts = {},
): Promise<RequestListener> {
  const handler = {
    handle,
    acceptsUpgrade: () => false,
    upgrade: () => {
      throw new Error('this listener upgrades no connection')
    },
    ended: () => {},
    drain: () => {},
    malformed: (_: unknown, refusal: Refusal, _exchange: unknown, respond: RespondUnparsed) =>
      respond(refusal, 'none'),
  }
  const events = {
    refused() {},
    memoryFreed() {},
    evicted() {},
    proxyHeaderRejected() {},
    handshakeCompleted() {},
    handshakeFailed() {},
    sessionFailed() {},
    unavailable() {},
    ...someEvents,
  }
  const settings = {
    limits: { ...DEFAULT_LIMITS, ...limits },
    proxyProtocol: false,
    trusts: () => false,
    clientOf: () => null,
    memory: Infinity,
    stall: 60_000,
    ...someSettings,
  }
  const addresses = Array.from(settings.tls ?? [null], () => ({ host: '127.0.0.1', port }))
  return openRequestListener(addresses, handler, { settings, events })
}

/** A listener's port, and its first request, which is not answered. The listener is closed with the test. */
export async function firstExchange(t: Test): Promise<{ port: number; asked: Promise<Exchange> }> {
  const asked = Promise.withResolvers<Exchange>()
  const door = await openListener((request, response) => {
    const exchange = new Exchange(request, response, 'id', 0)
    asked.resolve(exchange)
    return exchange
  })
  t.teardown(() => door.close(0))
  return { port: door.address.port, asked: asked.promise }
}

/** Whether the client waits for `100 Continue`. */
export function isAwaited({ expect, minor }: ClientRequest): boolean {
  return expect !== null && minor === 1
}
