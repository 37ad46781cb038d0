/** Refuses an allowed request whose tenant or client has too many connections with a request in flight. */

import type { RequestShares } from '../../http/server/request-shares.ts'
import type { RefuseDecided, Stage } from '../stage.ts'

export function shareConnections(shares: RequestShares, refuse: RefuseDecided): Stage {
  return (exchange, next) => {
    // A preflight is answered at once.
    const overShare = exchange.evaluated.preflight === null ? shares.admit(exchange) : null
    return overShare === null ? next(exchange) : refuse(exchange, overShare)
  }
}
