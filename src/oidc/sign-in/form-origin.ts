/**
 * Protects against login CSRF: a page of another origin could submit a form that signs its visitor in to another account
 * or tenant. A form is accepted only from the gateway's own origin or a configured one. JSON needs no such rule, because
 * cross-origin JSON requires a CORS preflight.
 */

import { Refusal } from '../../model/errors.ts'
import { headerLines, isSameOrigin } from './browser.ts'
import type { OidcTenant } from '../ports.ts'

export const originRefused = new Refusal(
  'origin_refused',
  'A form may start a sign-in only from a page of this origin or of an origin configured for the tenant. Programs send JSON.',
)

/**
 * - `canonical`: a page of the redirect_uri's origin
 * - `same-host`: a page of the host in the request, which may be another name of the gateway
 * - `listed`: a page of one of the tenant's `origins`
 */
export type FormSource = 'canonical' | 'same-host' | 'listed' | 'foreign'

export function formSource(rawHeaders: readonly string[], { oidc }: OidcTenant): FormSource {
  if (isSameOrigin(rawHeaders, new URL(oidc.redirectUri).origin)) return 'canonical'
  const [origin, ...others] = headerLines(rawHeaders, 'origin')
  if (origin === undefined || others.length > 0) return 'foreign'
  if (oidc.origins.includes(origin)) return 'listed'
  const hosts = headerLines(rawHeaders, 'host')
  const sameHost = hosts.length === 1 && [`https://${hosts[0]}`, `http://${hosts[0]}`].includes(origin)
  return sameHost && isSameOrigin(rawHeaders, origin) ? 'same-host' : 'foreign'
}

/** The other content types of HTML forms, which pages of any origin can send without a preflight. */
const OTHER_FORM_TYPES = /^(?:multipart\/form-data|text\/plain)[ \t]*(?:;|$)/i

/** Whether a browser sends a form of an unsupported type; browsers send Origin or Sec-Fetch-Site. */
export function isUnsupportedForm(rawHeaders: readonly string[]): boolean {
  const fromPage = ['origin', 'sec-fetch-site'].some((name) => headerLines(rawHeaders, name).length > 0)
  return (
    fromPage && headerLines(rawHeaders, 'content-type').some((type) => OTHER_FORM_TYPES.test(type.trim()))
  )
}
