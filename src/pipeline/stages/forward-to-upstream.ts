/** Forwards the request, or the handshake of a WebSocket, to the upstream of its route. */

import { performance } from 'node:perf_hooks'
import type { Exchange } from '../../http/server/exchange.ts'
import { forward, type Refuse } from '../../proxy/forward.ts'
import { openWebSocket } from '../../proxy/websocket/opening.ts'
import type { Observers } from '../observers/observer.ts'
import type { GatewayConfig } from '../pipeline-config.ts'
import { ANSWERED, type Stage } from '../stage.ts'
import type { WebSockets } from '../web-sockets.ts'

export function forwardToUpstream(
  { upstreams, trustedProxies, limits }: Pick<GatewayConfig, 'upstreams' | 'trustedProxies' | 'limits'>,
  { shares }: WebSockets,
  observers: Observers,
  refuse: Refuse,
): Stage {
  const opened = (exchange: Exchange) => observers.opened(exchange, performance.now())
  return (exchange, next) => {
    const target = exchange.allowed.decision.route?.target
    const upstream = target?.kind === 'upstream' ? upstreams.get(target.name) : undefined
    if (upstream === undefined) return next(exchange)
    const overShare = exchange.handshake ? shares.admit(exchange, trustedProxies, limits) : null
    if (overShare !== null) refuse(exchange, overShare, null)
    else if (exchange.handshake) openWebSocket(exchange, upstream, { refuse, opened })
    else forward(exchange, upstream, refuse)
    return ANSWERED
  }
}
