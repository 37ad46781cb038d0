/** Sign-in with each tenant's identity provider: the public interface of this folder. */

import { Refusal } from '../model/errors.ts'
import { about, type Context, logRefusal, ofRequest, withFields, withProviderErrors } from './context.ts'
import { readFields } from './sign-in/body.ts'
import { callback } from './sign-in/callback.ts'
import { globalTokenRevocation } from './signals/global-token-revocation.ts'
import { sharedSignals } from './signals/shared-signals.ts'
import { closeSignals, tenantSignals } from './signals/tenant-signals.ts'
import { backchannelLogout } from './session/backchannel-logout.ts'
import { logout } from './session/logout.ts'
import { refresh } from './session/refresh.ts'
import { readCompact } from './tokens/compact-jws.ts'
import { verifyIdToken } from './tokens/id-token.ts'
import { seatsOf } from './tokens/seat-mapping.ts'
import type { HttpLimits } from './provider/http.ts'
import { providerOf, signInRedirect } from './sign-in/begin-sign-in.ts'
import { loginEndpoint } from './sign-in/login-endpoint.ts'
import { type AnswersOf, validateFields } from './sign-in-endpoints.ts'
import { PendingWork } from './pending-work.ts'
import type { OidcLog, OidcPorts, OidcTenant, Reply } from './ports.ts'
import { memberKey } from '../model/membership.ts'
import type { VerifiedToken } from '../model/principal.ts'
import type { PublicRequest } from '../model/route.ts'
import { Provider } from './provider/provider.ts'
import { TokenOfNoTenant, verifyProviderToken } from './tokens/provider-token.ts'
import { Renewals } from './session/renew.ts'
import type { SessionRecord } from '../../seats-admin/index.ts'
import { otherUserPage } from './sign-in/refusal-page.ts'
import { pageOf } from './sign-in/return-to.ts'
import { isLeftOut, isOfTenant, otherTenant, readSeatsClaim, scimClaim } from './tokens/id-token-claims.ts'
import { logLeftOut } from './tokens/signed-in-user.ts'
import { ProviderError, providerUnavailable } from './provider/provider-errors.ts'

type OidcLimits = HttpLimits & Pick<Context, 'cookieBytes' | 'prefix'>

/** HEAD would redeem the code without a response body. */
const notHead = new Refusal('method_not_allowed', 'The sign-in callback accepts GET only.', { allow: 'GET' })

/** The endpoints by method and path, all that the route table has: it refuses others itself. */
const ENDPOINTS: Readonly<Record<string, (context: Context, request: PublicRequest) => Promise<Reply>>> = {
  'POST /auth/oidc/login': loginEndpoint,
  'GET /auth/oidc/callback': callback,
  'POST /auth/oidc/validate': validate,
  'POST /auth/oidc/refresh': refresh,
  'POST /auth/oidc/logout': logout,
  'POST /auth/oidc/backchannel-logout': backchannelLogout,
  'POST /auth/oidc/global-token-revocation': globalTokenRevocation,
  'POST /auth/ssf': sharedSignals,
}

/** The addresses of one tenant: `/auth/oidc/callback/acme`. */
const TENANT_ADDRESS =
  /^(GET \/auth\/oidc\/callback|POST \/auth\/(?:oidc\/(?:backchannel-logout|global-token-revocation)|ssf))\/[^/]+$/

export class Oidc {
  readonly #context: Context
  readonly #renewals = new Renewals()
  /** The providers of tenants with `accept_provider_tokens`. */
  readonly #accepting: readonly Provider[]
  readonly #work = new PendingWork()

  /** @param tenants the tenants with a provider */
  constructor(ports: OidcPorts, tenants: readonly OidcTenant[], limits: OidcLimits) {
    const providers = new Map(tenants.map((tenant) => [tenant.id, new Provider(tenant, limits)]))
    const { cookieBytes, prefix } = limits
    const sharedRedirect = withSharedRedirect(tenants)
    const signalsOf = new Map(
      tenants
        .filter(({ oidc }) => oidc.revocation || oidc.events !== null)
        .map((tenant) => [tenant.id, tenantSignals(tenant, limits)]),
    )
    this.#context = { ...ports, providers, signalsOf, sharedRedirect, cookieBytes, prefix, requestId: null }
    this.#accepting = [...providers.values()].filter(({ tenant }) => tenant.oidc.acceptProviderTokens)
  }

  /**
   * Serves `/auth/oidc/*` and `/auth/ssf/*`, after the prefix. Rejects if the store is unavailable: the
   * caller responds with 503.
   */
  serve(request: PublicRequest): Promise<Reply> {
    if (request.method === 'HEAD') return Promise.resolve(notHead)
    const path = request.path.slice(this.#context.prefix.length)
    const name = `${request.method} ${path}`.replace(TENANT_ADDRESS, '$1')
    const endpoint = ENDPOINTS[name]
    if (endpoint === undefined) throw new Error(`no sign-in endpoint ${name}`)
    return this.#work.track(endpoint(this.#contextOf(request.requestId), { ...request, path }))
  }

  /**
   * Redirects a browser to the provider; after sign-in the browser returns to the target.
   *
   * @param target path and query as received
   * @param rawHeaders name, value, …
   */
  signIn(
    tenant: string,
    { target, rawHeaders, requestId }: Pick<PublicRequest, 'rawHeaders' | 'requestId'> & { target: string },
  ): Promise<Reply> {
    return this.#work.track(signInRedirect(this.#contextOf(requestId), tenant, target, rawHeaders))
  }

  /**
   * The page of a user of another tenant, for a route that refuses the user. If the tenant has no provider,
   * the refusal stays as it is.
   *
   * @param target path and query as received
   */
  otherUserPage(refusal: Refusal, tenant: string, target: string): Refusal {
    const { providers, prefix } = this.#context
    const provider = providers.get(tenant)
    return provider === undefined
      ? refusal
      : otherUserPage(refusal, provider.tenant, { prefix, returnTo: pageOf(target, prefix) ?? '/' })
  }

  /** Every line of the log that the request causes has its id. */
  #contextOf(requestId: string | null): Context {
    return { ...this.#context, log: ofRequest(this.#context.log, requestId), requestId }
  }

  /**
   * Renews a session whose Seats are older than the token lifetime.
   *
   * @param requestId of the request that needs it
   */
  readonly renew = (
    tenant: string,
    id: string,
    requestId: string | null = null,
  ): Promise<SessionRecord | Refusal> =>
    this.#work.track(this.#renewals.renew(this.#contextOf(requestId), tenant, id))

  /**
   * Verifies a bearer token that is not the gateway's own. Null: no accepted provider has issued it.
   *
   * @param requestId of the request that has it
   * @param resource the audience that it must have; null: that of its tenant
   */
  async verifyProviderToken(
    text: string,
    requestId: string | null = null,
    resource: string | null = null,
  ): Promise<VerifiedToken | Refusal | null> {
    if (this.#accepting.length === 0) return null
    const { now, log } = this.#contextOf(requestId)
    try {
      const verified = await this.#work.track(verifyProviderToken(text, this.#accepting, now(), resource))
      if (!(verified instanceof TokenOfNoTenant)) {
        if (verified !== null && !(verified instanceof Refusal)) this.#warnOfLeftOut(text, verified, log)
        return verified
      }
      const fields = { event: 'provider_token_refused', reason: otherTenant.detail }
      log.warn(
        { ...fields, ...(verified.user === null ? {} : { user: verified.user }) },
        "a provider's token was refused",
      )
      return otherTenant
    } catch (cause) {
      if (!(cause instanceof ProviderError)) throw cause
      const fields = { event: 'provider_token_unknown', reason: cause.message }
      log.warn(fields, 'a token could not be verified')
      return providerUnavailable
    }
  }

  /** Once for each verification, and so not for each request with the token. */
  #warnOfLeftOut(text: string, { principal: { tenant, user } }: VerifiedToken, log: OidcLog): void {
    const { oidc, seatsFrom } = this.#context.providers.get(tenant)?.tenant ?? {
      oidc: null,
      seatsFrom: 'claim',
    }
    const seatsClaim = seatsFrom === 'scim' ? null : (oidc?.seatsClaim ?? null)
    const claims = readCompact(text)?.claims ?? {}
    if (seatsClaim !== null && isLeftOut(claims, seatsClaim)) logLeftOut(withFields(log, { user }), tenant)
  }

  /** Waits for the requests in flight: after a reload they complete with the old configuration. */
  async close(): Promise<void> {
    await this.#work.ended()
    const { providers, signalsOf } = this.#context
    await Promise.all([...providers.values()].map((provider) => provider.close()))
    await Promise.all([...signalsOf.values()].map(closeSignals))
  }
}

function withSharedRedirect(tenants: readonly OidcTenant[]): Set<string> {
  const sharing = tenants.filter(({ oidc }) =>
    tenants.some(({ oidc: other }) => other.redirectUri === oidc.redirectUri && other.issuer !== oidc.issuer),
  )
  return new Set(sharing.map(({ id }) => id))
}

/**
 * Verifies an ID token and reports its claims, its Seats and the `hash_perm` of a token. Creates no session
 * and changes nothing.
 */
async function validate(context: Context, request: PublicRequest): Promise<Reply> {
  const fields = readFields(request, validateFields)
  if (fields instanceof Refusal) return fields
  const provider = providerOf(context, fields)
  if (provider instanceof Refusal) return provider
  return withProviderErrors(context, provider, async () => {
    const { tenant } = provider
    const { id, oidc } = tenant
    const checks = {
      source: 'request',
      now: context.now(),
      nonce: null,
      accessToken: null,
      sub: null,
    } as const
    const token = await verifyIdToken(fields.get('id_token') ?? '', provider, checks)
    if (token instanceof Refusal) return token
    // Without an access token userinfo can't be queried: the ID token itself must contain the claim.
    const own = about(context, { user: token.sub })
    if (!isOfTenant(oidc, token.claims))
      return logRefusal(own.log, id, otherTenant.of({ tenant: id, user: token.sub }))
    if (tenant.seatsFrom !== 'scim' && isLeftOut(token.claims, oidc.seatsClaim)) logLeftOut(own.log, id)
    const { names } = readSeatsClaim(token.claims, oidc.seatsClaim)
    const member = memberKey(scimClaim(tenant, token.claims))
    const seats = await seatsOf(own, tenant, token.sub, { names: names ?? [], member })
    const body: AnswersOf['validate'] = {
      valid: true,
      claims: token.claims,
      seats: seats.names,
      hash_perm: seats.hashPerm,
    }
    return { status: 200, headers: [], body }
  })
}
