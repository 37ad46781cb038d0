/** Builds `oidc:` of a tenant: its identity provider. */

import { isLoopback, origin } from './addresses.ts'
import { InvalidValue, confidential, type ValueParser } from './invalid-value.ts'
import type { Section } from './section.ts'
import { durationWithin } from './units.ts'

const CALLBACK = '/auth/oidc/callback'
export const BACKCHANNEL_LOGOUT = '/auth/oidc/backchannel-logout'
/** RFC 6749, appendix A: visible ASCII without quotes and backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

export type OidcConfig = NonNullable<ReturnType<typeof buildOidc>>
export type ClientAuth = 'client_secret_basic' | 'client_secret_post' | 'none'

/**
 * The address that the provider sends logout tokens to. With the tenant's id, so that it is of one tenant.
 *
 * @param prefix that of the sign-in endpoints; '': none
 */
export function backchannelLogoutUri(
  { redirectUri }: OidcConfig,
  tenant: string,
  prefix: string,
): string | null {
  const url = URL.parse(redirectUri)
  return url === null ? null : `${url.origin}${prefix}${BACKCHANNEL_LOGOUT}/${tenant}`
}

/**
 * @param tenant the tenant's id, which the callback's path may end with
 * @param prefix that of the sign-in endpoints; '': none
 * @returns null when `oidc` is absent
 */
export function buildOidc(section: Section, tenant: string, prefix: string) {
  if (section.keys().length === 0) return null
  const allowInsecure = section.flag('allow_insecure')
  section.warnOfSecrets('client_secret')
  const clientSecret = section.text('client_secret', confidential(nonEmpty)) ?? null
  const scopes = section.texts('scopes', scope)
  const listed = section.value('scopes')
  // A list with faulty elements was reported already.
  if (Array.isArray(listed) && scopes.length === listed.length && !scopes.includes('openid'))
    section.fault('scopes', 'scopes: must include openid, which OpenID Connect requires')
  return Object.freeze({
    /** Exactly as the provider writes it: compared as text. */
    issuer: section.text('issuer', issuerUrl(allowInsecure)) ?? '',
    clientId: section.text('client_id', nonEmpty) ?? '',
    clientSecret,
    /** Null: by what discovery says. */
    clientAuth: section.text('client_auth', clientAuth(section.has('client_secret'))) ?? null,
    scopes: Object.freeze(scopes.length > 0 ? scopes : (section.default('scopes') as string[])),
    /** A claim's name, or a path through objects: `realm_access.roles`. */
    seatsClaim: section.setting('seats_claim', nonEmpty),
    /** An absolute URL without query and fragment; its origin is the gateway's own, as browsers see it. */
    redirectUri: section.text('redirect_uri', redirectUri(prefix + CALLBACK, tenant)) ?? '',
    /** Plain http, to loopback addresses only. */
    allowInsecure,
    /** `host:port`: the provider's endpoints may be there also at an inner address. The issuer's own always may. */
    endpointHosts: Object.freeze(section.texts('endpoint_hosts', endpointHost)),
    /** Tokens signed by the provider are accepted as bearer tokens. */
    acceptProviderTokens: section.flag('accept_provider_tokens'),
    /** Accepted in `aud` of such tokens, beside the client id. */
    audience: Object.freeze(section.texts('audience', nonEmpty)),
    /** Where the provider sends the browser after signing out. */
    postLogoutRedirect: section.text('post_logout_redirect', absoluteUrl) ?? null,
    sessionLifetime: section.setting('session_lifetime', durationWithin('1m', '90d')),
    /** Other origins whose forms may begin a sign-in. */
    origins: Object.freeze(section.texts('origins', pageOrigin)),
    /** Identifies users of this tenant; null if the provider serves only one tenant. */
    tenantClaim: tenantClaim(section.section('tenant_claim')),
  })
}

const INSECURE = 'uses http:// on a host that is not a loopback address: use https://'

export const nonEmpty: ValueParser<string> = (text) =>
  text !== '' && !/[\x00-\x1f\x7f]/.test(text)
    ? text
    : new InvalidValue('is empty or has a control character')

const scope: ValueParser<string> = (text) =>
  SCOPE_TOKEN.test(text)
    ? text
    : new InvalidValue('is not one scope: list each by itself, in visible ASCII without " and \\')

/** Compared as text with the provider's own `issuer` (RFC 8414, section 3.3), so it is not normalized. */
export function issuerUrl(allowInsecure: boolean): ValueParser<string> {
  return (text) => {
    const url = httpUrl(text)
    if (url === null || /[?#]/.test(text))
      return new InvalidValue('must be an https:// URL without user name, password, query or fragment')
    if (url.protocol === 'https:') return text
    if (!isLoopback(url.hostname)) return new InvalidValue(INSECURE)
    return allowInsecure
      ? text
      : new InvalidValue(
          'uses http://, which a loopback address may have with allow_insecure: use https://, or set allow_insecure: true',
        )
  }
}

/** @returns `host:port`; the port is 443 by default */
const endpointHost: ValueParser<string> = (text) => {
  const url = /\s/.test(text) ? null : origin(`https://${text}`)
  if (url === null || url instanceof InvalidValue)
    return new InvalidValue('is not host or host:port, such as kc.internal:8443')
  return `${url.hostname}:${url.port || '443'}`
}

/** The schema lists the ways. */
function clientAuth(hasSecret: boolean): ValueParser<ClientAuth> {
  return (text) =>
    text !== 'none' && !hasSecret
      ? new InvalidValue('requires a client_secret: add it, or write none')
      : (text as ClientAuth)
}

/** https, or http on loopback, which browsers also treat as a secure context. */
function redirectUri(callback: string, tenant: string): ValueParser<string> {
  return (text) => {
    const url = absoluteUrl(text)
    if (url instanceof InvalidValue) return url
    const { protocol, hostname, pathname, href } = new URL(text)
    if (protocol === 'http:' && !isLoopback(hostname)) return new InvalidValue(INSECURE)
    if (text.includes('?') || (pathname !== callback && pathname !== `${callback}/${tenant}`))
      return new InvalidValue(`does not end with ${callback} or ${callback}/${tenant}`)
    // Providers compare the redirect URI as text, and the gateway sends its normal form.
    if (text !== href)
      return new InvalidValue(`is not in normal form: write ${href}, here and at the provider`)
    return text
  }
}

const absoluteUrl: ValueParser<string> = (text) => {
  if (httpUrl(text) === null || text.includes('#'))
    return new InvalidValue('must be an https:// URL without user name, password or fragment')
  return text
}

/** The form of the `Origin` header (RFC 6454, section 6.2). */
const pageOrigin: ValueParser<string> = (text) => {
  const url = httpUrl(text)
  if (url === null || text !== url.origin)
    return new InvalidValue('is not an origin as browsers write it: https://host or https://host:port')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return new InvalidValue(INSECURE)
  return text
}

/** A claim that identifies the tenant among several tenants of one provider. */
function tenantClaim(section: Section) {
  const [name, value] = [section.text('name', nonEmpty), section.text('value', nonEmpty)]
  if (name === undefined || value === undefined) return null
  return Object.freeze({
    /** Like `seatsClaim`: a claim's name, or a path through objects. */
    name,
    /** The text that the claim is, or holds where it is a list. */
    value,
  })
}

type TenantClaim = ReturnType<typeof tenantClaim>

/** Tenants by the client of a provider that they sign in with. */
export type TenantsByClient = Map<
  string,
  { readonly tenant: string; readonly claimed: boolean; readonly claim: TenantClaim }[]
>

/**
 * Finds tenants that share a client of a provider. A user of one could sign in to the other, so each requires a claim
 * that identifies its users. The fault is reported at the second tenant.
 *
 * @param seen the tenants before this one, which is added
 */
export function reportSharedClient(
  section: Section,
  tenant: string,
  oidc: OidcConfig | null,
  seen: TenantsByClient,
): void {
  if (oidc === null || oidc.issuer === '' || oidc.clientId === '') return
  // A trailing slash makes no different provider.
  const key = JSON.stringify([new URL(oidc.issuer).href.replace(/\/+$/, ''), oidc.clientId])
  const others = seen.get(key) ?? []
  const { tenantClaim: claim } = oidc
  // A faulty tenant_claim was reported already.
  const claimed = section.has('tenant_claim')
  const unclaimed = others.find((other) => !other.claimed || !claimed)
  const same = others.find((other) => isSameClaim(other.claim, claim))
  if (unclaimed !== undefined)
    section.fault(
      'client_id',
      `client_id: tenant ${unclaimed.tenant} has the same issuer and client_id: each of these tenants requires a tenant_claim`,
    )
  else if (same !== undefined)
    section.fault(
      'tenant_claim',
      `tenant_claim: tenant ${same.tenant} has the same client_id and the same tenant_claim: give each tenant a claim of its own`,
    )
  seen.set(key, [...others, { tenant, claimed, claim }])
}

function isSameClaim(one: TenantClaim, other: TenantClaim): boolean {
  return one !== null && one.name === other?.name && one.value === other.value
}

/** @returns null also for surrounding white space, which URL parsing removes, and for a user name or password */
export function httpUrl(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || /\s/.test(text) || !/^https?:$/.test(url.protocol)) return null
  return url.username === '' && url.password === '' ? url : null
}
