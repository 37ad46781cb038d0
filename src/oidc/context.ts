/** What every verb of this room works with; made once by `oidc.ts` for one configuration. */

import { Refusal } from '../model/errors.ts'
import type { OidcPorts } from './ports.ts'
import type { Provider } from './provider/provider.ts'
import { ProviderRefused, TokenRefused } from './provider/openid-client-errors.ts'
import { ProviderError, providerUnavailable } from './provider/provider-error.ts'

export interface Context extends OidcPorts {
  /** By tenant. */
  readonly providers: ReadonlyMap<string, Provider>
  /** Tenants whose redirect_uri is another tenant's too, with another issuer: see `login.ts`. */
  readonly sharedRedirect: ReadonlySet<string>
  /** Characters that the cookies of sign-ins under way may have in one browser. */
  readonly cookieBytes: number
}

const notAccepted = new Refusal(
  'token_invalid',
  'The identity provider did not accept what the sign-in brought.',
)

/** The one place for what a provider may throw at us: a line of the log, and a Refusal that repeats none of it. */
export async function asking<T>(
  context: Context,
  provider: Provider,
  work: () => Promise<T>,
): Promise<T | Refusal> {
  try {
    return await work()
  } catch (cause) {
    return refusalOf(context, provider, cause)
  }
}

/** Throws on what is no trouble of a provider's. */
export function refusalOf({ log }: Context, { tenant }: Provider, cause: unknown): Refusal {
  const fields = { event: 'sign_in_failed', tenant: tenant.id }
  if (cause instanceof ProviderError) {
    log.warn({ ...fields, reason: cause.message }, 'the identity provider could not be asked')
    return providerUnavailable
  }
  if (cause instanceof ProviderRefused) {
    log.info({ ...fields, reason: cause.message }, 'the identity provider said no')
    return notAccepted
  }
  if (cause instanceof TokenRefused) return logged(log, tenant.id, cause.refusal)
  throw cause
}

/** For a token of the provider's that is not believed: our words, and they may be shown. */
export function logged(log: Context['log'], tenant: string, refusal: Refusal): Refusal {
  log.warn(
    { event: 'sign_in_failed', tenant, reason: refusal.detail },
    'a token of the identity provider was refused',
  )
  return refusal
}
