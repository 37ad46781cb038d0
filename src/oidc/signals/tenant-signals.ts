/** What a tenant's signals are verified with. */

import type { EventsConfig } from '../../config/events-settings.ts'
import { signalUris } from '../../config/oidc-settings.ts'
import type { OidcTenant } from '../ports.ts'
import type { HttpLimits } from '../provider/http.ts'
import { providerKeys, type SignalKeys, transmitterKeys } from './signal-keys.ts'
import { VerificationTurns } from './verification-turns.ts'

export interface TenantSignals {
  readonly tenant: OidcTenant
  readonly turns: VerificationTurns
  /** Null: Global Token Revocation is not configured. */
  readonly revocation: { readonly uri: string; readonly signer: SignalKeys } | null
  /** Null: events are not configured. */
  readonly events: {
    readonly config: EventsConfig
    readonly issuer: string
    readonly signer: SignalKeys
  } | null
}

export function tenantSignals(
  tenant: OidcTenant,
  limits: HttpLimits & { readonly prefix: string },
): TenantSignals {
  const { oidc } = tenant
  const { revocation: uri } = signalUris(oidc, tenant.id, limits.prefix)
  const { events: config } = oidc
  return {
    tenant,
    turns: new VerificationTurns(),
    revocation: oidc.revocation ? { uri, signer: providerKeys(oidc, limits) } : null,
    events:
      config === null
        ? null
        : { config, issuer: config.issuer ?? oidc.issuer, signer: transmitterKeys(oidc, config, limits) },
  }
}

/** Resolves when no request for keys is in flight. */
export async function closeSignals({ revocation, events }: TenantSignals): Promise<void> {
  await Promise.all([revocation?.signer.close(), events?.signer.close()])
}
