/**
 * The error page of a failed sign-in: plain text and a link to start again. No script, image or form; from the request
 * only the id, and the path of a sign-in whose sealed state was authenticated.
 */

import { createHash } from 'node:crypto'
import { errors, type Refusal } from '../../model/errors.ts'

const STYLE =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1rem;color-scheme:light dark}' +
  'small{opacity:.7}'

const HEADERS = [
  'Content-Security-Policy',
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options',
  'nosniff',
  // The page's URL contains the authorization response.
  'Referrer-Policy',
  'no-referrer',
] as const

/**
 * @param retryUrl a URL of the gateway that starts the sign-in again
 * @param message the text of the page
 */
export function asPage(refusal: Refusal, retryUrl: string, message = refusal.detail): Refusal {
  const { status } = refusal
  const title = status === 503 ? 'Sign-in is temporarily unavailable' : 'This page did not sign you in'
  const html = (requestId: string) =>
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>` +
    `<p>${escaped(message)}</p><p><a href="${escaped(retryUrl)}">Start again</a></p>` +
    `<p><small>${escaped(errors[refusal.code].title)} (${status}, ${escaped(requestId)})</small></p></main></body></html>`
  return refusal.withPage({ html, headers: HEADERS })
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
