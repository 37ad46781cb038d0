/** What changes of the store, and of time, concern an exchange that is open. */

import type { Exchange } from '../http/server/exchange.ts'
import type { Principal } from '../model/principal.ts'
import type { Changed } from './pending-changes.ts'

/** The fields of an exchange that re-evaluation uses. */
export type OpenExchange = Pick<Exchange, 'startedAt' | 'evaluation' | 'refusal'>

/** Whether the record of the credential, or a block of its owner, has changed. */
export function credentialChanged({ evaluation }: OpenExchange, changed: Changed): boolean {
  const principal: Principal | null = evaluation?.decision.principal ?? null
  if (principal === null) return false
  const { tenant, method, user, owner, session } = principal
  if (method === 'api-key' && changed.has(tenant, 'api-key', user)) return true
  if (owner !== null && changed.has(tenant, 'block', owner)) return true
  return session !== null && changed.has(tenant, 'session', session)
}

/** Whether a Seat that grants the permission has changed, or what gives the caller Seats. */
export function seatsChanged({ evaluation }: OpenExchange, changed: Changed): boolean {
  const { principal = null, seats = [] } = evaluation?.decision ?? {}
  if (principal === null) return false
  const { tenant, claims, method, owner } = principal
  const member = claims.by === 'membership' ? claims.member : null
  if (member !== null && changed.has(tenant, 'membership', member)) return true
  if (owner !== null && method !== 'api-key' && changed.has(tenant, 'grant', owner)) return true
  return seats.some(
    ({ id, name, verdict }) =>
      verdict === 'grants' &&
      (changed.has(tenant, 'seat-name', name) || (id !== null && changed.has(tenant, 'seat', id))),
  )
}

/** Whether a grant of the caller has begun or ended since the decision. */
export function grantsChanged({ evaluation }: OpenExchange, now: number, wall: number): boolean {
  const grants = evaluation?.grants ?? null
  return grants !== null && !grants.isCurrent(now, wall)
}

/** @param now ms since the epoch */
export function hasExpired({ evaluation }: OpenExchange, now: number): boolean {
  const until = evaluation?.decision.principal?.validUntil ?? null
  return until !== null && now >= until
}
