/**
 * Refuses an allowed request if its tenant or client has too many connections of clients with a request in
 * flight. `src/http/client/slot-sharing.ts` shares the connections to upstreams.
 */

import type { RequestShares } from '../../http/server/request-shares.ts'
import type { RefuseDecided, Stage } from '../stage.ts'

export function limitInFlight(shares: RequestShares, refuse: RefuseDecided): Stage {
  return (exchange, next) => {
    // A preflight is answered at once.
    const overShare = exchange.evaluated.preflight === null ? shares.admit(exchange) : null
    return overShare === null ? next(exchange) : refuse(exchange, overShare)
  }
}
