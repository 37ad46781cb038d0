/**
 * Pages of refusals, and of a logout: plain text, and a link or a form to sign in. They have no script and no
 * image, and of the request only its id and the path of the page.
 */

import { createHash } from 'node:crypto'
import { errors, type Refusal } from '../../model/errors.ts'
import type { PublicResponse } from '../../model/route.ts'
import type { OidcTenant } from '../ports.ts'

const STYLE =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1rem;color-scheme:light dark}' +
  'small{opacity:.7}'

function headers(forms: "form-action 'none'; " | '', referrer: string): readonly string[] {
  return [
    'Content-Security-Policy',
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
      `base-uri 'none'; ${forms}frame-ancestors 'none'`,
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    referrer,
  ]
}

/** The page's URL contains the authorization response. */
const WITHOUT_FORM = headers("form-action 'none'; ", 'no-referrer')
/**
 * Browsers apply form-action to redirects, too: the form leads to the provider, whose address only its
 * discovery tells. With no-referrer they would send `Origin: null`, as a foreign page does.
 */
const WITH_FORM = headers('', 'same-origin')

/**
 * The page of a failed sign-in.
 *
 * @param retryUrl a URL of the gateway that starts the sign-in again
 * @param message the text of the page
 */
export function asPage(refusal: Refusal, retryUrl: string, message = refusal.detail): Refusal {
  const title =
    refusal.status === 503 ? 'Sign-in is temporarily unavailable' : 'This page did not sign you in'
  const link = `<p><a href="${escaped(retryUrl)}">Start again</a></p>`
  return withPage(refusal, { title, message, rest: link, headers: WITHOUT_FORM })
}

/** The provider without a prompt `login` that many use. */
const GOOGLE = 'https://accounts.google.com'

/**
 * The page of a signed-in user that the route refuses. With the form, the provider asks who the user is: by
 * its own session it would sign in the same one again.
 *
 * @param tenant the tenant of the route
 *
 * @param prefix the prefix of the sign-in endpoints
 * @param returnTo the path of the page
 */
export function otherUserPage(
  refusal: Refusal,
  { id, oidc }: OidcTenant,
  { prefix, returnTo }: { readonly prefix: string; readonly returnTo: string },
): Refusal {
  const prompt = oidc.issuer === GOOGLE ? 'select_account' : 'login'
  const fields = { tenant: id, return_to: returnTo, prompt }
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`,
  )
  const form = `<form method="post" action="${prefix}/auth/oidc/login">${inputs.join('')}<p><button>Sign in as another user</button></p></form>`
  const message = 'You are signed in as a user of another organization, which this page is not for.'
  return withPage(refusal, { title: 'This page is not for you', message, rest: form, headers: WITH_FORM })
}

interface Page {
  readonly title: string
  readonly message: string
  /** HTML below the message. */
  readonly rest: string
  readonly headers: readonly string[]
}

function withPage(refusal: Refusal, { title, message, rest, headers }: Page): Refusal {
  const text = (requestId: string) =>
    htmlOf(
      title,
      `<p>${escaped(message)}</p>${rest}` +
        `<p><small>${escaped(errors[refusal.code].title)} (${refusal.status}, ${escaped(requestId)})</small></p>`,
    )
  return refusal.withPage({ type: 'text/html; charset=utf-8', text, headers })
}

function htmlOf(title: string, main: string): string {
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${main}</main></body></html>`
  )
}

/**
 * The page after a logout if neither the provider nor the configuration has an address for it.
 *
 * @param cookies fields that remove the session's
 */
export function signedOutPage(cookies: readonly string[]): PublicResponse {
  const message =
    'Your session here has ended. If the identity provider has a session of yours too, it goes on: sign out there as well.'
  return {
    status: 200,
    headers: [...cookies, ...WITHOUT_FORM],
    body: Buffer.from(htmlOf('You are signed out', `<p>${message}</p>`)),
    contentType: 'text/html; charset=utf-8',
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
