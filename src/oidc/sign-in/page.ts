/**
 * What a browser is shown when a sign-in does not come to its end: plain words and a way to begin again. No script, no
 * image, no form; nothing of the request but the id, and the path of a sign-in whose seal was opened.
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
  // The address of the page has the provider's answer in it.
  'Referrer-Policy',
  'no-referrer',
] as const

/**
 * @param again an address of the gateway where the sign-in begins again
 * @param words what happened
 */
export function asPage(refusal: Refusal, again: string, words = refusal.detail): Refusal {
  const { status } = refusal
  const title =
    status === 503 ? 'Signing in is not possible at the moment' : 'You are not signed in by this page'
  const html = (requestId: string) =>
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>` +
    `<p>${escaped(words)}</p><p><a href="${escaped(again)}">Begin again</a></p>` +
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
