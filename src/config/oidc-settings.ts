/** `oidc:` of a tenant: its identity provider. */

import { isLoopback, origin } from './addresses.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import type { Section } from './section.ts'
import { duration, flag, list, map, optional, type Reader, required, text } from './setting.ts'

const CALLBACK = '/auth/oidc/callback'
export const BACKCHANNEL_LOGOUT = '/auth/oidc/backchannel-logout'
/** A scope token (RFC 6749, appendix A): visible ASCII without quotes and backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

export type OidcConfig = ReturnType<typeof provider.of>
export type ClientAuth = 'client_secret_basic' | 'client_secret_post' | 'none'
type TenantClaim = NonNullable<ReturnType<typeof tenantClaim.of>>

const INSECURE = 'uses http:// on a host that is not a loopback address: use https://'

export const nonEmpty: ValueParser<string> = (text) =>
  text !== '' && !/[\x00-\x1f\x7f]/.test(text)
    ? text
    : new InvalidValue('is empty or has a control character')

const scope: ValueParser<string> = (text) =>
  SCOPE_TOKEN.test(text)
    ? text
    : new InvalidValue('is not one scope: list each by itself, in visible ASCII without " and \\')

/**
 * An issuer. It is compared as text with the provider's own `issuer` (RFC 8414, section 3.3), so it is not
 * normalized.
 */
export const issuerUrl: Reader<string> = (text, section) => {
  const url = httpUrl(text)
  if (url === null || /[?#]/.test(text))
    return new InvalidValue('must be an https:// URL without user name, password, query or fragment')
  if (url.protocol === 'https:') return text
  if (!isLoopback(url.hostname)) return new InvalidValue(INSECURE)
  return section.flag('allow_insecure')
    ? text
    : new InvalidValue(
        'uses http://, which a loopback address may have with allow_insecure: use https://, or set allow_insecure: true',
      )
}

/** @returns `host:port`; the port is 443 by default */
const endpointHost: ValueParser<string> = (text) => {
  const url = /\s/.test(text) ? null : origin(`https://${text}`)
  if (url === null || url instanceof InvalidValue)
    return new InvalidValue('is not host or host:port, such as kc.internal:8443')
  return `${url.hostname}:${url.port || '443'}`
}

/** One of the words in the schema. */
const clientAuth: Reader<ClientAuth> = (text, section) =>
  text !== 'none' && !section.has('client_secret')
    ? new InvalidValue('requires a client_secret: add it, or write none')
    : (text as ClientAuth)

/** A URL with https, or with http on loopback, which browsers also treat as a secure context. */
const redirectUri: ValueParser<string> = (text) => {
  const url = absoluteUrl(text)
  if (url instanceof InvalidValue) return url
  const { protocol, hostname } = new URL(text)
  return protocol === 'http:' && !isLoopback(hostname) ? new InvalidValue(INSECURE) : text
}

/**
 * Checks the path and the form of a redirect URI.
 *
 * @param callback the path of the gateway's endpoint
 */
function callbackUri(callback: string, tenant: string): ValueParser<string> {
  return (text) => {
    const { pathname, href } = new URL(text)
    if (text.includes('?') || (pathname !== callback && pathname !== `${callback}/${tenant}`))
      return new InvalidValue(`does not end with ${callback} or ${callback}/${tenant}`)
    // Providers compare the redirect URI as text, and the gateway sends its normal form.
    return text === href
      ? text
      : new InvalidValue(`is not in normal form: write ${href}, here and at the provider`)
  }
}

const absoluteUrl: ValueParser<string> = (text) => {
  if (httpUrl(text) === null || text.includes('#'))
    return new InvalidValue('must be an https:// URL without user name, password or fragment')
  return text
}

/** An origin in the form of the `Origin` header (RFC 6454, section 6.2). */
const pageOrigin: ValueParser<string> = (text) => {
  const url = httpUrl(text)
  if (url === null || text !== url.origin)
    return new InvalidValue('is not an origin as browsers write it: https://host or https://host:port')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return new InvalidValue(INSECURE)
  return text
}

/** The claim that distinguishes the users of tenants that share a provider. */
const tenantClaim = map(
  'A claim whose value the provider gives only to users of this tenant. Required for each tenant that shares issuer and client_id with another. It is checked at sign-in, refresh, remapping and validate, and for provider tokens. A different value gets 401 token_invalid.',
  {
    name: required(
      text(
        'A claim, or a path to it such as org.id. The gateway looks for it in the same way as for seats_claim.',
        nonEmpty,
        { examples: ['org_id'] },
      ),
    ),
    value: required(
      text('The value of the claim or, if the claim is a list, one of its elements.', nonEmpty, {
        examples: ['acme'],
      }),
    ),
  },
  ({ name, value }) => (name === null || value === null ? null : Object.freeze({ name, value })),
)

const provider = map(
  "Sign-in through the tenant's identity provider, with OpenID Connect.",
  {
    issuer: required(
      text(
        "The issuer, exactly as it is written in the provider's discovery document, with or without a trailing slash. Must be https, unless allow_insecure is set.",
        issuerUrl,
        { placeholder: '', examples: ['https://login.acme.example'] },
      ),
    ),
    clientId: required(
      text('The client id that the provider assigned to this gateway.', nonEmpty, {
        placeholder: '',
        examples: ['seatgate'],
      }),
    ),
    clientSecret: text(
      'The client secret; public clients have none. Keep it out of this file: ${ACME_OIDC_SECRET}.',
      nonEmpty,
      { privacy: 'secret', examples: ['${ACME_OIDC_SECRET}'] },
    ),
    clientAuth: text(
      'How the client secret is sent. client_secret_basic percent-encodes characters other than letters, digits and -._~ (RFC 6749). For a provider that does not decode them, use client_secret_post. Default: as the discovery document specifies.',
      clientAuth,
      { enum: ['client_secret_basic', 'client_secret_post', 'none'], examples: ['client_secret_post'] },
    ),
    scopes: list('Scopes that sign-in requests. openid is required.', scope, {
      default: ['openid', 'email', 'profile', 'offline_access'],
      items: { examples: ['openid', 'email', 'profile'] },
    }),
    seatsClaim: text(
      'The claim that lists Seats (one name or a list), or a path to it such as realm_access.roles. The gateway looks for it in the ID token, then in userinfo.',
      nonEmpty,
      { default: 'memberOf', examples: ['realm_access.roles'] },
    ),
    redirectUri: required(
      text(
        "The gateway's own origin as browsers see it, followed by /auth/oidc/callback or /auth/oidc/callback/TENANT, as registered at the provider.",
        redirectUri,
        { placeholder: '', examples: ['https://gw.example/auth/oidc/callback'] },
      ),
    ),
    acceptProviderTokens: flag(
      'Accept bearer tokens that the provider signed, if their aud is client_id or one of audience.',
    ),
    audience: list("Further values of aud to accept in the provider's tokens.", nonEmpty, {
      default: [],
      items: { examples: ['https://api.acme.example'] },
    }),
    postLogoutRedirect: text(
      'Where the provider sends the browser after sign-out, as registered at the provider.',
      absoluteUrl,
      { examples: ['https://www.acme.example/bye'] },
    ),
    sessionLifetime: duration('How long a browser or a refresh token stays signed in at most.', '1m', '90d', {
      default: '8h',
      examples: ['12h'],
    }),
    endpointHosts: list(
      "Hosts, with a port unless it is 443, where the provider's endpoints may have an internal address (loopback, private, link-local, shared, metadata). The issuer's own host and port always may. A proxy from the environment is used only for the issuer's host and for these hosts.",
      endpointHost,
      { default: [], items: { examples: ['kc.internal:8443'] } },
    ),
    origins: list(
      "Origins, in addition to the gateway's own, whose HTML forms may start a sign-in (POST /auth/oidc/login).",
      pageOrigin,
      { default: [], items: { examples: ['https://www.acme.example'] } },
    ),
    tenantClaim: optional(tenantClaim),
    allowInsecure: flag('Allow an issuer with plain http on a loopback address.'),
  },
  (values, section) => {
    const listed = section.value('scopes')
    // The faults of elements are reported already.
    if (Array.isArray(listed) && listed.length === values.scopes.length && !values.scopes.includes('openid'))
      section.fault('scopes', 'scopes: must include openid, which OpenID Connect requires')
    return Object.freeze(values)
  },
)

export const oidc = optional(provider)

/**
 * @param section the section `oidc`
 * @param prefix the prefix of the sign-in endpoints; '': none
 */
export function checkRedirectUri(section: Section, tenant: string, prefix: string): void {
  section.text('redirect_uri', callbackUri(prefix + CALLBACK, tenant))
}

/**
 * The address that the provider sends logout tokens to. It contains the tenant's id, so that each tenant has
 * its own.
 *
 * @param prefix the prefix of the sign-in endpoints; '': none
 */
export function backchannelLogoutUri(
  { redirectUri }: OidcConfig,
  tenant: string,
  prefix: string,
): string | null {
  const url = URL.parse(redirectUri)
  return url === null ? null : `${url.origin}${prefix}${BACKCHANNEL_LOGOUT}/${tenant}`
}

/** The tenants by their issuer and client id. */
export type TenantsByClient = Map<
  string,
  { readonly tenant: string; readonly claimed: boolean; readonly claim: TenantClaim | null }[]
>

/**
 * Finds tenants that share a client of a provider. A user of one tenant could sign in to the other, so each
 * needs a claim that identifies its users. The fault is reported at the second tenant.
 *
 * @param byClient the tenants before this one, which is added
 */
export function reportSharedClient(
  section: Section,
  tenant: string,
  oidc: OidcConfig | null,
  byClient: TenantsByClient,
): void {
  if (oidc === null || oidc.issuer === '' || oidc.clientId === '') return
  // The same provider with and without a trailing slash.
  const key = JSON.stringify([new URL(oidc.issuer).href.replace(/\/+$/, ''), oidc.clientId])
  const others = byClient.get(key) ?? []
  const { tenantClaim: claim } = oidc
  // The fault of a tenant_claim is reported already.
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
  byClient.set(key, [...others, { tenant, claimed, claim }])
}

function isSameClaim(one: TenantClaim | null, other: TenantClaim | null): boolean {
  return one !== null && one.name === other?.name && one.value === other.value
}

/**
 * @returns null for other schemes, for a user name or password, and for white space, which URL parsing would
 *   remove
 */
export function httpUrl(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || /\s/.test(text) || !/^https?:$/.test(url.protocol)) return null
  return url.username === '' && url.password === '' ? url : null
}
