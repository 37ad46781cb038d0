/** The observers of every configuration. */

import type { Exchange } from '../../http/server/exchange.ts'
import { openedWebSocket } from '../../http/server/open-web-socket.ts'
import { externalQuestion } from '../../http/server/question.ts'
import { requestTrace } from '../../http/server/request-trace.ts'
import type { Refusal } from '../../model/errors.ts'
import { clientAddress } from '../../proxy/client-network.ts'
import type { TrustedProxies } from '../../proxy/forwarded.ts'
import type { AccessLog } from '../../telemetry/access-log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { ProcessActivity } from '../../telemetry/process-activity.ts'
import type { Observer } from './observer.ts'

/** Remembers the newest decisions, and counts the uses of routes. */
export function rememberDecisions(activity: ProcessActivity): Observer {
  const remember = (exchange: Exchange, refusal: Refusal | null) => {
    // The proxy asks again for a refusal that was remembered with its first question.
    if (externalQuestion.get(exchange)?.refusesOnly === true) return
    activity.decided(exchange.id, exchange.evaluated.decision, refusal)
  }
  return { decided: remember, revoked: remember }
}

/** A WebSocket is counted as a request with its 101. */
export function countRequests(metrics: Metrics): Observer {
  return {
    opened: (exchange, at) => metrics.countRequest(exchange, at),
    ended(exchange) {
      if (isRequest(exchange)) metrics.countRequest(exchange, exchange.endedAt)
    },
  }
}

/**
 * The spans of a WebSocket are made with its 101. A request may have a trace that began before a reload ended
 * tracing.
 */
export const endTraces: Observer = {
  opened: (exchange, at) => requestTrace.get(exchange)?.end(exchange, at),
  ended(exchange) {
    if (isRequest(exchange)) requestTrace.get(exchange)?.end(exchange, exchange.endedAt)
  },
}

/** @param proxies those whose word about the address of the client is taken */
export function logRequests(log: AccessLog, proxies: TrustedProxies): Observer {
  return { ended: (exchange) => log.write(exchange, clientAddress(exchange.request, proxies)) }
}

function isRequest(exchange: Exchange): boolean {
  return openedWebSocket.get(exchange) === undefined
}
