/** Sign-in with each tenant's own identity provider: the entrance to this room. */

import type { Refusal } from '../model/errors.ts'
import type { Context } from './context.ts'
import { serveSignIn } from './endpoints.ts'
import type { HttpLimits } from './provider/http.ts'
import { signInRedirect } from './sign-in/login-endpoint.ts'
import type { OidcPorts, OidcTenant, SignInResponse, SignInRequest } from './ports.ts'
import { Provider } from './provider/provider.ts'
import { type ProviderToken, verifyProviderToken } from './tokens/provider-token.ts'
import { Renewals } from './session/renew.ts'
import type { SessionRecord } from '../../seats-admin/index.ts'
import { otherTenant } from './tokens/tenant-claim.ts'
import { ProviderError, providerUnavailable } from './provider/provider-error.ts'

export interface OidcLimits extends HttpLimits {
  /** Characters that the cookies of sign-ins under way may have in one browser. */
  readonly cookieBytes?: number
}

/** Half of what a header section may have by default. */
const COOKIE_BYTES = 16 * 1024

export class Oidc {
  readonly #context: Context
  readonly #renewals: Renewals
  /** Of the tenants that accept their provider's tokens. */
  readonly #accepting: readonly Provider[]
  readonly #inFlight = new Set<Promise<unknown>>()

  /** @param tenants those that have a provider */
  constructor(ports: OidcPorts, tenants: readonly OidcTenant[], limits: OidcLimits = {}) {
    const providers = new Map(tenants.map((tenant) => [tenant.id, new Provider(tenant, limits)]))
    const { cookieBytes = COOKIE_BYTES } = limits
    this.#context = { ...ports, providers, sharedRedirect: sharingRedirect(tenants), cookieBytes }
    this.#renewals = new Renewals(this.#context)
    this.#accepting = [...providers.values()].filter(({ tenant }) => tenant.oidc.acceptProviderTokens)
  }

  /** Serves `/auth/oidc/*`. Rejects when the store can't be asked. */
  serve(request: SignInRequest): Promise<SignInResponse | Refusal> {
    return this.#whole(serveSignIn(this.#context, request))
  }

  /**
   * Sends a browser to sign in, and afterwards back to where it was going.
   *
   * @param target path and query, as it came
   * @param rawHeaders of the request: name, value, …
   */
  signIn(tenant: string, target: string, rawHeaders: readonly string[]): Promise<SignInResponse | Refusal> {
    return this.#whole(signInRedirect(this.#context, tenant, target, rawHeaders))
  }

  /** For `Sessions`: a session whose Seats are too old. */
  readonly renew = (tenant: string, id: string): Promise<SessionRecord | Refusal> =>
    this.#whole(this.#renewals.renew(tenant, id))

  /** A bearer token that is none of the gateway's own. Null: nor is it any provider's who is accepted. */
  async verifyProviderToken(text: string): Promise<ProviderToken | Refusal | null> {
    if (this.#accepting.length === 0) return null
    try {
      const found = await this.#whole(verifyProviderToken(text, this.#accepting, this.#context.now()))
      if (found === otherTenant)
        this.#context.log.warn(
          { event: 'provider_token_refused', reason: otherTenant.detail },
          "a provider's token was refused",
        )
      return found
    } catch (cause) {
      if (!(cause instanceof ProviderError)) throw cause
      const fields = { event: 'provider_token_unknown', reason: cause.message }
      this.#context.log.warn(fields, 'a token could not be verified')
      return providerUnavailable
    }
  }

  /** Lets what is under way come to its end, as after a reload: a sign-in that has begun to be served is served. */
  async close(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
    await Promise.all([...this.#context.providers.values()].map((provider) => provider.close()))
  }

  #whole<T>(work: Promise<T>): Promise<T> {
    // Whoever called hears of a failure; here it is only over.
    const over = work.catch(() => {}).then(() => void this.#inFlight.delete(over))
    this.#inFlight.add(over)
    return work
  }
}

/** Tenants that have their redirect_uri in common with one of another issuer. */
function sharingRedirect(tenants: readonly OidcTenant[]): Set<string> {
  const sharing = tenants.filter(({ oidc }) =>
    tenants.some(({ oidc: other }) => other.redirectUri === oidc.redirectUri && other.issuer !== oidc.issuer),
  )
  return new Set(sharing.map(({ id }) => id))
}
