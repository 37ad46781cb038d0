/** `oidc:` of a tenant: its identity provider. */

import { isLoopback, origin } from './addresses.ts'
import { InvalidValue, confidential, type Read } from './invalid-value.ts'
import type { ClientAuth, OidcConfig, TenantClaim } from './config.ts'
import type { Section } from './section.ts'
import { durationWithin } from './units.ts'

const CALLBACK = '/auth/oidc/callback'
const SCOPES = Object.freeze(['openid', 'email', 'profile', 'offline_access'])
const CLIENT_AUTH: readonly string[] = ['client_secret_basic', 'client_secret_post', 'none']
/** RFC 6749, appendix A: visible ASCII without quotes and backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/
const EIGHT_HOURS = 8 * 3_600_000

/** Null where it is left out. @param tenant the tenant's id: a callback may be its own */
export function buildOidc(section: Section, tenant: string): OidcConfig | null {
  if (section.keys().length === 0) return null
  const allowInsecure = section.flag('allow_insecure')
  const clientSecret = section.text('client_secret', confidential(nonEmpty)) ?? null
  const scopes = section.texts('scopes', scope)
  const written = section.value('scopes')
  // Of a list with faulty ones the rest says nothing.
  if (Array.isArray(written) && scopes.length === written.length && !scopes.includes('openid'))
    section.fault('scopes', 'scopes: openid is missing: without it there is no sign-in')
  return Object.freeze({
    issuer: section.text('issuer', issuer(allowInsecure)) ?? '',
    clientId: section.text('client_id', nonEmpty) ?? '',
    clientSecret,
    clientAuth: section.text('client_auth', clientAuth(clientSecret !== null)) ?? null,
    scopes: scopes.length > 0 ? Object.freeze(scopes) : SCOPES,
    seatsClaim: section.text('seats_claim', nonEmpty) ?? 'memberOf',
    redirectUri: section.text('redirect_uri', redirectUri(tenant)) ?? '',
    allowInsecure,
    endpointHosts: Object.freeze(section.texts('endpoint_hosts', endpointHost)),
    acceptProviderTokens: section.flag('accept_provider_tokens'),
    audience: Object.freeze(section.texts('audience', nonEmpty)),
    postLogoutRedirect: section.text('post_logout_redirect', absolute) ?? null,
    sessionLifetime: section.text('session_lifetime', durationWithin('1m', '90d')) ?? EIGHT_HOURS,
    origins: Object.freeze(section.texts('origins', pageOrigin)),
    tenantClaim: tenantClaim(section.section('tenant_claim')),
  })
}

const nonEmpty: Read<string> = (text) =>
  text !== '' && !/[\x00-\x1f\x7f]/.test(text)
    ? text
    : new InvalidValue('is empty or has a control character')

const scope: Read<string> = (text) =>
  SCOPE_TOKEN.test(text) ? text : new InvalidValue('is no scope: visible ASCII, one in each element')

/** Compared as text with what the provider says of itself, hence kept as it is. */
function issuer(allowInsecure: boolean): Read<string> {
  return (text) => {
    const url = webAddress(text)
    if (url === null || /[?#]/.test(text))
      return new InvalidValue('is not an https:// URL without query and fragment')
    if (url.protocol === 'https:') return text
    if (!allowInsecure) return new InvalidValue('is not https: (allow_insecure: true, for one on loopback)')
    return isLoopback(url.hostname) ? text : new InvalidValue('is plain http and not on loopback')
  }
}

/** Written with its port, 443 where it has none. */
const endpointHost: Read<string> = (text) => {
  const url = /\s/.test(text) ? null : origin(`https://${text}`)
  if (url === null || url instanceof InvalidValue)
    return new InvalidValue('is not a host with or without a port, such as kc.internal:8443')
  return `${url.hostname}:${url.port || '443'}`
}

function clientAuth(hasSecret: boolean): Read<ClientAuth> {
  return (text) => {
    if (!CLIENT_AUTH.includes(text)) return new InvalidValue(`is not one of ${CLIENT_AUTH.join(', ')}`)
    if (text !== 'none' && !hasSecret) return new InvalidValue('needs a client_secret')
    return text as ClientAuth
  }
}

/** The browser comes back to a page of ours, by TLS; a browser takes loopback for as good. */
function redirectUri(tenant: string): Read<string> {
  return (text) => {
    const url = absolute(text)
    if (url instanceof InvalidValue) return url
    const { protocol, hostname, pathname, href } = new URL(text)
    if (protocol === 'http:' && !isLoopback(hostname)) return new InvalidValue('is not https')
    if (text.includes('?') || (pathname !== CALLBACK && pathname !== `${CALLBACK}/${tenant}`))
      return new InvalidValue(`does not end with ${CALLBACK} or ${CALLBACK}/${tenant}`)
    // Providers compare it as text, and it is sent to them from a URL.
    if (text !== href)
      return new InvalidValue(`is written ${href} by browsers: write it so, also at the provider`)
    return text
  }
}

const absolute: Read<string> = (text) => {
  if (webAddress(text) === null || text.includes('#'))
    return new InvalidValue('is not an https:// URL without fragment')
  return text
}

/** As browsers write it into `Origin`. */
const pageOrigin: Read<string> = (text) => {
  const url = webAddress(text)
  if (url === null || text !== url.origin)
    return new InvalidValue(
      'is no origin as browsers write it: https://host or https://host:port, nothing else',
    )
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return new InvalidValue('is not https')
  return text
}

function tenantClaim(section: Section): TenantClaim | null {
  const [name, value] = [section.text('name', nonEmpty), section.text('value', nonEmpty)]
  return name === undefined || value === undefined ? null : Object.freeze({ name, value })
}

/**
 * Two tenants that are one client of one provider: whoever signs in for the one could name the other. Each needs a claim
 * of its own that tells its users apart. The fault stands at the second of them.
 */
export class SharedClients {
  readonly #seen = new Map<
    string,
    { readonly tenant: string; readonly claimed: boolean; readonly claim: TenantClaim | null }[]
  >()

  add(section: Section, tenant: string, oidc: OidcConfig | null): void {
    if (oidc === null || oidc.issuer === '' || oidc.clientId === '') return
    // Written with a last slash or without, it is one provider.
    const key = JSON.stringify([new URL(oidc.issuer).href.replace(/\/+$/, ''), oidc.clientId])
    const others = this.#seen.get(key) ?? []
    const { tenantClaim: claim } = oidc
    // One that is written, but faulty, was reported already.
    const claimed = section.has('tenant_claim')
    const open = others.find((other) => !other.claimed || !claimed)
    const same = others.find((other) => sameClaim(other.claim, claim))
    if (open !== undefined)
      section.fault(
        'client_id',
        `client_id: tenant ${open.tenant} has the same issuer and client_id: each of them needs a tenant_claim`,
      )
    else if (same !== undefined)
      section.fault('tenant_claim', `tenant_claim: tenant ${same.tenant} of the same client has the same one`)
    this.#seen.set(key, [...others, { tenant, claimed, claim }])
  }
}

function sameClaim(one: TenantClaim | null, other: TenantClaim | null): boolean {
  return one !== null && one.name === other?.name && one.value === other.value
}

/** Null also for one with white space around it, which a URL would lose, or with a user or password in it. */
function webAddress(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || /\s/.test(text) || !/^https?:$/.test(url.protocol)) return null
  return url.username === '' && url.password === '' ? url : null
}
