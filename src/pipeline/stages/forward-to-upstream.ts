/** Forwards the request, or the handshake of a WebSocket, to the upstream of its route. */

import { forward, type Refuse } from '../../proxy/forward.ts'
import type { Upstream } from '../../proxy/upstream.ts'
import { openWebSocket } from '../../proxy/websocket/opening.ts'
import { ANSWERED, type Stage } from '../stage.ts'
import type { WebSockets } from '../web-sockets.ts'

export function forwardToUpstream(
  upstreams: ReadonlyMap<string, Upstream>,
  webSockets: WebSockets,
  refuse: Refuse,
): Stage {
  return (exchange, next) => {
    const target = exchange.allowed.decision.route?.target
    const upstream = target?.kind === 'upstream' ? upstreams.get(target.name) : undefined
    if (upstream === undefined) return next(exchange)
    const overShare = exchange.handshake ? webSockets.admit(exchange) : null
    if (overShare !== null) refuse(exchange, overShare, null)
    else if (exchange.handshake) openWebSocket(exchange, upstream, { refuse, opened: webSockets.opened })
    else forward(exchange, upstream, refuse)
    return ANSWERED
  }
}
