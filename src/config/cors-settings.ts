/** The CORS policy of one route table. */

import { type CorsSettings, REQUEST_HEADERS, RESPONSE_HEADERS } from '../model/cors.ts'
import { origin } from './addresses.ts'
import { InvalidValue } from './invalid-value.ts'
import { TOKEN } from './methods.ts'
import { flag, list, map, required, text } from './setting.ts'
import { durationWithin } from './units.ts'

/** Browsers keep the response to a preflight for at most 2 hours (Chromium) or 24 (Firefox). */
const maxAge = durationWithin('0s', '24h')

export const cors = map(
  'Pages of other origins that may read the responses of this table (CORS). Without this key, they get whatever the service itself answers.',
  {
    origins: required(
      list(
        'The origins, each with scheme, host and port; or * alone, without credentials. Pages of apps and extensions have schemes such as capacitor, tauri and chrome-extension.',
        readOrigin,
        {
          distinct: true,
          minItems: 1,
          examples: [['https://app.example']],
          items: { examples: ['https://app.example'] },
        },
      ),
    ),
    credentials: flag(
      'Pages may read responses to requests with cookies, and the session cookie is accepted for all methods.',
      { examples: [true] },
    ),
    headers: list(
      'Request headers that pages may send, in addition to authorization, content-type, space and x-api-key.',
      readName,
      { distinct: true, default: [], examples: [['if-match']], items: { examples: ['if-match'] } },
    ),
    expose: list(
      'Response headers that pages may read, in addition to retry-after, www-authenticate and x-request-id.',
      readName,
      { distinct: true, default: [], examples: [['etag']], items: { examples: ['etag'] } },
    ),
    // Not a `duration`: its messages show the default as the example.
    maxAge: text('How long a browser may reuse the answer to a preflight. From 0s to 24h.', maxAge, {
      pattern: '^(0|[1-9][0-9]*)(ms|s|m|h|d)$',
      default: '10m',
      examples: ['1h'],
    }),
  },
  (values, section): CorsSettings => {
    const { origins, credentials } = values
    if (origins.includes('*') && origins.length > 1)
      section.fault('origins', 'origins: * is every origin: list it alone')
    if (origins.includes('*') && credentials)
      section.fault('credentials', 'credentials: not allowed with * in origins: list each origin')
    return Object.freeze({
      origins,
      credentials,
      headers: names(REQUEST_HEADERS, values.headers),
      expose: names(RESPONSE_HEADERS, values.expose),
      maxAge: Math.floor(values.maxAge / 1000),
    })
  },
)

/** The serialized origin (HTML, section 7.1.1) as browsers send it: in lower case, without a default port. */
function readOrigin(text: string): string | InvalidValue {
  if (text === '*') return text
  if (text === 'null')
    return new InvalidValue(
      'is the origin of sandboxed pages and files of every site, so it cannot be listed',
    )
  if (text.includes('*'))
    return new InvalidValue('has a wildcard: list each origin by itself, or * alone without credentials')
  if (OF_APPS.test(text))
    return APP_ORIGIN.test(text)
      ? text
      : new InvalidValue(
          'must have scheme and host only, as the app sends them, such as capacitor://localhost',
        )
  const url = origin(text)
  return url instanceof InvalidValue ? url : url.origin
}

/**
 * The schemes of pages of apps and browser extensions. Their origins are compared as these programs send
 * them.
 */
const OF_APPS =
  /^(?:capacitor|ionic|tauri|app|vscode-webview|chrome-extension|moz-extension|safari-web-extension):\/\//i
const APP_ORIGIN = /^[a-z-]+:\/\/[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253}[A-Za-z0-9])?(?::[1-9][0-9]{0,4})?$/

/** Field names are case-insensitive. */
function readName(text: string): string | InvalidValue {
  if (text === '*') return new InvalidValue('is not a header name: list each header by itself')
  return TOKEN.test(text)
    ? text.toLowerCase()
    : new InvalidValue('is not a header name: a token (RFC 9110) of at most 64 characters')
}

function names(own: readonly string[], listed: readonly string[]): readonly string[] {
  return Object.freeze([...new Set([...own, ...listed])])
}
