/** Builds the CORS policy of one route table. */

import { type CorsSettings, REQUEST_HEADERS, RESPONSE_HEADERS } from '../model/cors.ts'
import { origin } from './addresses.ts'
import { distinct, InvalidValue, type ValueParser } from './invalid-value.ts'
import { TOKEN } from './methods.ts'
import type { Section } from './section.ts'
import { durationWithin } from './units.ts'

/** Browsers keep the answer to a preflight for less: Chromium 2 hours, Firefox 24. */
const maxAge = durationWithin('0s', '24h')

/** Undefined: the table has no `cors`. */
export function buildCors(root: Section): CorsSettings | undefined {
  if (!root.has('cors')) return undefined
  const section = root.section('cors')
  const origins = section.texts('origins', distinct(readOrigin))
  const credentials = section.flag('credentials')
  if (origins.includes('*') && origins.length > 1)
    section.fault('origins', 'origins: * is every origin: list it alone')
  if (origins.includes('*') && credentials)
    section.fault('credentials', 'credentials: not allowed with * in origins: list each origin')
  return Object.freeze({
    origins: Object.freeze(origins),
    credentials,
    headers: names(REQUEST_HEADERS, section.texts('headers', distinct(readName))),
    expose: names(RESPONSE_HEADERS, section.texts('expose', distinct(readName))),
    maxAge: Math.floor(section.setting('max_age', maxAge) / 1000),
  })
}

/** The serialized origin (HTML, section 7.1.1), as browsers send it: lower case, without a default port. */
const readOrigin: ValueParser<string> = (text) => {
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

/** Schemes of the pages of apps and of browsers' extensions. Their origins have no other form than the one that they send. */
const OF_APPS =
  /^(?:capacitor|ionic|tauri|app|vscode-webview|chrome-extension|moz-extension|safari-web-extension):\/\//i
const APP_ORIGIN = /^[a-z-]+:\/\/[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253}[A-Za-z0-9])?(?::[1-9][0-9]{0,4})?$/

/** Field names are case-insensitive. */
const readName: ValueParser<string> = (text) => {
  if (text === '*') return new InvalidValue('is not a header name: list each header by itself')
  return TOKEN.test(text)
    ? text.toLowerCase()
    : new InvalidValue('is not a header name: a token (RFC 9110) of at most 64 characters')
}

function names(own: readonly string[], listed: readonly string[]): readonly string[] {
  return Object.freeze([...new Set([...own, ...listed])])
}
