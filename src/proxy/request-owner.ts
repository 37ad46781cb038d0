/** The owner of a request, among whom the slots at an upstream are shared. */

import type { Exchange } from '../http/server/exchange.ts'
import { clientNetwork, forwardedNetwork } from './client-network.ts'
import type { TrustedProxies } from './forwarded.ts'
import type { RequestOwner } from '../http/client/upstream-request.ts'

/**
 * For a public route the owner is the client network. Requests of a trusted proxy that names no client have one common
 * owner.
 */
export function ownerOf({ request, evaluation }: Exchange, proxies: TrustedProxies): RequestOwner {
  const principal = evaluation?.decision.principal ?? null
  if (principal !== null) return { tenant: principal.tenant, caller: principal.user }
  const peer = request.socket.remoteAddress
  return { tenant: '', caller: clientNetwork(peer, proxies) ?? forwardedNetwork(request, proxies) ?? '' }
}
