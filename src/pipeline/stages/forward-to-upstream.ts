/** Forwards the request, or the handshake of a WebSocket, to the upstream of its route. */

import { forward, type Refuse } from '../../proxy/forward.ts'
import type { Upstream } from '../../proxy/upstream.ts'
import { openWebSocket } from '../../proxy/websocket/opening.ts'
import type { Stage } from '../stage.ts'
import type { WebSockets } from '../web-sockets.ts'

export function forwardToUpstream(
  upstreams: ReadonlyMap<string, Upstream>,
  webSockets: WebSockets,
  refuse: Refuse,
): Stage {
  return (exchange, next) => {
    const target = exchange.decided.decision.route?.target
    const upstream = target?.kind === 'upstream' ? upstreams.get(target.name) : undefined
    if (upstream === undefined) return next(exchange)
    if (!exchange.handshake) return forward(exchange, upstream, refuse)
    const overShare = webSockets.admit(exchange)
    if (overShare !== null) return refuse(exchange, overShare, null)
    openWebSocket(exchange, upstream, { refuse, opened: webSockets.opened })
  }
}
