/** What the endpoints of revocations use of the gateway, for one configuration. */

import type { AdminDeps } from '../../seats-admin/index.ts'
import type { Coherence } from '../coherence/coherence.ts'
import type { Config } from '../config/config.ts'
import { receiptSigner } from '../identity/receipt.ts'
import { type Route, takesTenant } from '../model/route.ts'
import type { DecidingTables } from './endpoint-deps.ts'

type Revoking = AdminDeps['revoking']
type Unreached = ReturnType<Revoking['unreached']>[number]

/** Answers to revocations by their state. */
export type RevocationCounts = Record<Parameters<Revoking['answered']>[0], number>

export function revocationDeps(
  config: Config,
  coherence: Pick<Coherence, 'revoke'>,
  counts: RevocationCounts,
  compiled: () => DecidingTables,
): Revoking {
  const { identity, tenants } = config
  return {
    revoke: (committed) => coherence.revoke(committed),
    issuers: (tenant) => (tenants.get(tenant)?.issuers ?? []).map(({ issuer }) => issuer),
    unreached: (tenant, subject) => unreached(compiled(), tenant, !('api_key' in subject)),
    sign: identity === null ? null : receiptSigner(identity),
    answered: (state) => counts[state]++,
  }
}

/** @param isToken whether callers send the credential in `Authorization`, where an API key is not accepted */
function unreached({ config, table }: DecidingTables, tenant: string, isToken: boolean): Unreached[] {
  const { identity, decision, upstreams } = config
  const isPassedOn = (route: Route) =>
    route.target.kind === 'upstream' &&
    route.requirement !== 'public' &&
    takesTenant(route, tenant) &&
    upstreams.get(route.target.name)?.passAuthorization === true
  return [
    ...(identity === null ? [] : [{ what: 'signed_identity', lasts: identity.lifetime } as const]),
    ...(decision === null ? [] : [{ what: 'decision_listener' } as const]),
    ...(isToken && table.routes.some(isPassedOn) ? [{ what: 'forwarded_authorization' } as const] : []),
  ]
}
