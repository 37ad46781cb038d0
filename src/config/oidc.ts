/** `oidc:` of a tenant: its identity provider. Used by tenants.ts only. */

import { isLoopback, origin } from './addresses.ts'
import { Complaint, confidential, type Read } from './complaint.ts'
import type { ClientAuth, OidcConfig } from './config.ts'
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
  })
}

const nonEmpty: Read<string> = (text) =>
  text !== '' && !/[\x00-\x1f\x7f]/.test(text) ? text : new Complaint('is empty or has a control character')

const scope: Read<string> = (text) =>
  SCOPE_TOKEN.test(text) ? text : new Complaint('is no scope: visible ASCII, one in each element')

/** Compared as text with what the provider says of itself, hence kept as it is. */
function issuer(allowInsecure: boolean): Read<string> {
  return (text) => {
    const url = webAddress(text)
    if (url === null || /[?#]/.test(text))
      return new Complaint('is not an https:// URL without query and fragment')
    if (url.protocol === 'https:') return text
    if (!allowInsecure) return new Complaint('is not https: (allow_insecure: true, for one on loopback)')
    return isLoopback(url.hostname) ? text : new Complaint('is plain http and not on loopback')
  }
}

/** Written with its port, 443 where it has none. */
const endpointHost: Read<string> = (text) => {
  const url = /\s/.test(text) ? null : origin(`https://${text}`)
  if (url === null || url instanceof Complaint)
    return new Complaint('is not a host with or without a port, such as kc.internal:8443')
  return `${url.hostname}:${url.port || '443'}`
}

function clientAuth(hasSecret: boolean): Read<ClientAuth> {
  return (text) => {
    if (!CLIENT_AUTH.includes(text)) return new Complaint(`is not one of ${CLIENT_AUTH.join(', ')}`)
    if (text !== 'none' && !hasSecret) return new Complaint('needs a client_secret')
    return text as ClientAuth
  }
}

/** The browser comes back to a page of ours, by TLS; a browser takes loopback for as good. */
function redirectUri(tenant: string): Read<string> {
  return (text) => {
    const url = absolute(text)
    if (url instanceof Complaint) return url
    const { protocol, hostname, pathname, href } = new URL(text)
    if (protocol === 'http:' && !isLoopback(hostname)) return new Complaint('is not https')
    if (text.includes('?') || (pathname !== CALLBACK && pathname !== `${CALLBACK}/${tenant}`))
      return new Complaint(`does not end with ${CALLBACK} or ${CALLBACK}/${tenant}`)
    // Providers compare it as text, and it is sent to them from a URL.
    if (text !== href)
      return new Complaint(`is written ${href} by browsers: write it so, also at the provider`)
    return text
  }
}

const absolute: Read<string> = (text) => {
  if (webAddress(text) === null || text.includes('#'))
    return new Complaint('is not an https:// URL without fragment')
  return text
}

/** Null also for one with white space around it, which a URL would lose, or with a user or password in it. */
function webAddress(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || /\s/.test(text) || !/^https?:$/.test(url.protocol)) return null
  return url.username === '' && url.password === '' ? url : null
}
