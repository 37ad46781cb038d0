/** `oidc.events:` of a tenant: events of its identity provider. */

import { isLoopback } from './addresses.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { httpUrl, INSECURE, nonEmpty } from './provider-values.ts'
import type { Section } from './section.ts'
import { map, required, text } from './setting.ts'

/** A URL with https, or with http on loopback, which `allow_insecure` of the provider must allow. */
const transmitterUrl: ValueParser<string> = (text) => {
  const url = httpUrl(text)
  if (url === null || text.includes('#'))
    return new InvalidValue('must be an https:// URL without user name, password or fragment')
  return url.protocol === 'http:' && !isLoopback(url.hostname) ? new InvalidValue(INSECURE) : text
}

/** As {@link transmitterUrl}; it is compared as text, so that it is not normalized. */
const transmitterIssuer: ValueParser<string> = (text) =>
  text.includes('?') ? new InvalidValue('must be a URL without query') : transmitterUrl(text)

/** A shorter text could be guessed from answers. */
const MIN_AUTHORIZATION = 16

const authorizationValue: ValueParser<string> = (text) =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && text.length >= MIN_AUTHORIZATION
    ? text
    : new InvalidValue(
        `is not the value of a header of at least ${MIN_AUTHORIZATION} characters of visible ASCII: write it whole, such as Bearer and a random token`,
      )

export const events = map(
  'Events of the provider by push (Shared Signals Framework 1.0, RFC 8935): sessions that it revoked, changed claims and credentials, and disabled accounts. seatgate check prints the address to register.',
  {
    audience: required(
      text('The value that the aud claim of an event must equal or, if it is a list, contain.', nonEmpty, {
        placeholder: '',
        examples: ['https://gw.example'],
      }),
    ),
    issuer: text(
      'The iss claim of the events, compared as text. Default: the issuer of the provider, whose keys sign the events then.',
      transmitterIssuer,
      { examples: ['https://ssf.acme.example'] },
    ),
    jwksUri: text(
      "Location of the keys that sign the events. Its host may have an internal address, and may be reached through a proxy from the environment. Without this key, another issuer's location comes from its /.well-known/ssf-configuration.",
      transmitterUrl,
      { examples: ['https://ssf.acme.example/keys'] },
    ),
    authorization: text(
      'The whole value of the Authorization header that the provider sends with each event, at least 16 characters. Without this key, the header is not checked. Keep it out of this file: ${ACME_EVENTS_AUTHORIZATION}.',
      authorizationValue,
      { privacy: 'secret', examples: ['${ACME_EVENTS_AUTHORIZATION}'] },
    ),
  },
  (values) => Object.freeze(values),
)

export type EventsConfig = ReturnType<typeof events.of>

/** Reports addresses of the transmitter with plain http, which only `allow_insecure` allows. */
export function checkEvents(
  section: Section,
  { events: of, allowInsecure }: { readonly events: EventsConfig | null; readonly allowInsecure: boolean },
): void {
  if (of === null || allowInsecure) return
  for (const [key, url] of [
    ['issuer', of.issuer],
    ['jwks_uri', of.jwksUri],
  ] as const)
    if (url?.startsWith('http:') === true)
      section
        .section('events')
        .fault(
          key,
          `${key}: uses http://, which a loopback address may have with allow_insecure: use https://, or set allow_insecure: true`,
        )
}
