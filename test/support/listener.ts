/** The front door alone, for what is said on a connection: no routes, no decisions. */

import type { Test } from 'tap'
import { DEFAULT_LIMITS } from './default-settings.ts'
import type { Limits } from '../../src/config/config.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import type { ClientResponse } from '../../src/http/server/client-response.ts'
import { openRequestListener } from '../../src/http/server/listener.ts'
import type { RequestListener } from '../../src/http/server/listener-options.ts'
import type { CloseWith } from '../../src/http/server/listener.ts'
import { rawProblem } from '../../src/http/server/problem.ts'

/** On a free port of loopback. @param handle makes the exchange, and answers when it likes */
export function openListener(
  handle: (request: ClientRequest, response: ClientResponse) => Exchange,
  limits: Partial<Limits> = {},
): Promise<RequestListener> {
  const handler = {
    handle,
    acceptsUpgrade: () => false,
    upgrade: () => {
      throw new Error('nobody upgrades here')
    },
    ended: () => {},
    drain: () => {},
    malformed: (_: unknown, refusal: Parameters<typeof rawProblem>[0], _exchange: unknown, part: CloseWith) =>
      part(rawProblem(refusal, 'none')),
  }
  const events = { refused() {}, memoryFreed() {}, evicted() {}, proxyHeaderRejected() {}, unavailable() {} }
  const settings = {
    limits: { ...DEFAULT_LIMITS, ...limits },
    proxyProtocol: false,
    trusts: () => false,
    clientOf: () => null,
    memory: Infinity,
    stall: 60_000,
  }
  return openRequestListener({ host: '127.0.0.1', port: 0 }, handler, { settings, events })
}

/** The first request to come, not answered yet; and the port that it is to come to. Closed with the test. */
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
