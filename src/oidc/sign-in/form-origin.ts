/**
 * Login CSRF: a page of another origin could send a form that signs its visitor in, as somebody else or at another
 * tenant. So a form counts only from a page of our own origin, or of one that the tenant names. JSON needs no such rule:
 * a page of another origin can't send it without being asked (CORS). Pure.
 */

import { Refusal } from '../../model/errors.ts'
import { headerLines, isSameOrigin } from './browser.ts'
import type { OidcTenant } from '../ports.ts'

export const originRefused = new Refusal(
  'origin_refused',
  'A form may begin a sign-in only from a page of this origin, or of one that the tenant names. Programs send JSON.',
)

/**
 * - `home`: a page of the redirect_uri's origin
 * - `here`: a page of the host that the request names, which may be another name of the gateway
 * - `listed`: a page of one of the tenant's `origins`
 */
export type FormSource = 'home' | 'here' | 'listed' | 'foreign'

export function formSource(rawHeaders: readonly string[], { oidc }: OidcTenant): FormSource {
  if (isSameOrigin(rawHeaders, new URL(oidc.redirectUri).origin)) return 'home'
  const [origin, ...others] = headerLines(rawHeaders, 'origin')
  if (origin === undefined || others.length > 0) return 'foreign'
  if (oidc.origins.includes(origin)) return 'listed'
  const hosts = headerLines(rawHeaders, 'host')
  const here = hosts.length === 1 && [`https://${hosts[0]}`, `http://${hosts[0]}`].includes(origin)
  return here && isSameOrigin(rawHeaders, origin) ? 'here' : 'foreign'
}

/** Types that a form of HTML has beside the one that is read here: a page of any origin may send them. */
const OTHER_FORMS = /^(?:multipart\/form-data|text\/plain)[ \t]*(?:;|$)/i

/** One that a browser sends, which says where its page is from. */
export function isUnreadForm(rawHeaders: readonly string[]): boolean {
  const fromPage = ['origin', 'sec-fetch-site'].some((name) => headerLines(rawHeaders, name).length > 0)
  return fromPage && headerLines(rawHeaders, 'content-type').some((type) => OTHER_FORMS.test(type.trim()))
}
