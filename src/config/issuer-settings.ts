/** Builds `issuers:` of a tenant: issuers whose tokens are verified by their public keys. */

import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { httpUrl, issuerUrl, nonEmpty, type OidcConfig } from './oidc-settings.ts'
import type { Section } from './section.ts'
import { durationWithin } from './units.ts'

/** Asymmetric ones only: with `none` and HMAC here, a public key would verify what any reader of it signs. */
const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

export type IssuerConfig = ReturnType<typeof buildIssuer>
export type ClaimMatch = IssuerConfig['match'][number]

/** An entry of `issuers` with where it stands. */
export interface PlacedIssuer {
  readonly section: Section
  readonly tenant: string
  readonly config: IssuerConfig
}

/** @param parent that of the tenant */
export function buildIssuers(parent: Section, tenant: string): PlacedIssuer[] {
  return parent.sections('issuers').map((section) => ({ section, tenant, config: buildIssuer(section) }))
}

/** An issuer of tokens that the gateway verifies by the issuer's public keys, without sign-in and without a secret. */
function buildIssuer(section: Section) {
  const allowInsecure = section.flag('allow_insecure')
  const hasSeats = section.has('seats')
  if (hasSeats === section.has('seats_claim'))
    section.fault(
      hasSeats ? 'seats_claim' : 'issuer',
      hasSeats
        ? 'seats_claim: seats gives the Seats already: leave out one of the two'
        : 'issuer: name the Seats of its tokens in seats, or the claim that names them in seats_claim',
    )
  if (hasSeats && !section.has('match'))
    section.warn(
      'issuer',
      'issuer_unmatched',
      'issuer: every token that it signs for the audience holds the Seats of seats: name in match the claims that such a token must have',
    )
  const algorithms = section.texts('algorithms', algorithm)
  return Object.freeze({
    /** The claim `iss`, compared as text. */
    issuer: section.text('issuer', tokenIssuer(allowInsecure)) ?? '',
    /** What `aud` is, or holds where it is a list. */
    audience: section.text('audience', nonEmpty) ?? '',
    /** Null: as the issuer's discovery document says. */
    jwksUri: section.text('jwks_uri', keysUrl(allowInsecure)) ?? null,
    /** Of signatures (RFC 7518, section 3.1): asymmetric ones only. */
    algorithms: Object.freeze(
      algorithms.length > 0 ? algorithms : (section.default('algorithms') as string[]),
    ),
    /** Names of Seats that each token holds; null: `seatsClaim` names them. */
    seats: hasSeats ? Object.freeze(section.texts('seats', nonEmpty)) : null,
    /** A claim's name, or a path through objects; null: `seats` names them. */
    seatsClaim: section.text('seats_claim', nonEmpty) ?? null,
    /** All of them must be true of a token. */
    match: Object.freeze(matchesOf(section.section('match'))),
    /** Like `seatsClaim`: the claim that identifies the user at the issuer. */
    userClaim: section.setting('user_claim', nonEmpty),
    /** ms from `iat` to `exp` of a token, at most. */
    maxLifetime: section.setting('max_lifetime', durationWithin('1s', '3650d')),
    /** Plain http, to loopback addresses only. */
    allowInsecure,
  })
}

const algorithm: ValueParser<string> = (text) =>
  ALGORITHMS.includes(text) ? text : new InvalidValue(`is not one of ${ALGORITHMS.join(', ')}`)

/** The user of a token is `issuer|user`, which is one text for one user only while no issuer has a `|`. */
function tokenIssuer(allowInsecure: boolean): ValueParser<string> {
  const read = issuerUrl(allowInsecure)
  return (text) =>
    text.includes('|')
      ? new InvalidValue('has a |, which separates issuer and user: an issuer with it cannot be used')
      : read(text)
}

function keysUrl(allowInsecure: boolean): ValueParser<string> {
  const read = issuerUrl(allowInsecure)
  return (text) => {
    const url = httpUrl(text)
    if (url === null || text.includes('#'))
      return new InvalidValue('must be an https:// URL without user name, password or fragment')
    const host = read(url.origin)
    return host instanceof InvalidValue ? host : text
  }
}

/** A claim's name, or a path through objects, and what the claim is, or holds where it is a list. */
function matchesOf(section: Section) {
  return section.keys().flatMap((name) => {
    const value = section.value(name)
    return typeof value === 'string' || typeof value === 'boolean' ? [Object.freeze({ name, value })] : []
  })
}

/**
 * Finds issuers whose token could be meant for more than one entry, of one tenant or of two. A user of one tenant could
 * call as a user of the other, so each pair requires a claim in `match` that has two values. The fault is reported at the
 * second entry.
 *
 * @param all the entries of all tenants
 */
export function reportSharedIssuers(
  all: readonly PlacedIssuer[],
  tenants: ReadonlyMap<string, { readonly oidc: OidcConfig | null }>,
): void {
  const complete = all.filter(({ config }) => config.issuer !== '' && config.audience !== '')
  for (const [index, { section, tenant, config }] of complete.entries()) {
    const other = complete
      .slice(0, index)
      .find((each) => isSameParty(each.config, config) && !areApart(each.config, config))
    if (other !== undefined) {
      const key = section.has('match') ? 'match' : 'audience'
      const where = other.tenant === tenant ? 'an earlier entry' : `tenant ${other.tenant}`
      section.fault(
        key,
        `${key}: ${where} has the same issuer and audience: in match, give both a claim that has another value in each`,
      )
    }
    const [provider] = [...tenants].find(([, { oidc }]) => oidc !== null && isAccepted(oidc, config)) ?? []
    if (provider !== undefined)
      section.fault(
        'audience',
        `audience: tenant ${provider} accepts these tokens by oidc.accept_provider_tokens already: leave out one of the two, or give the tokens for each an audience of its own`,
      )
  }
}

function isSameParty(one: IssuerConfig, other: IssuerConfig): boolean {
  return one.issuer === other.issuer && one.audience === other.audience
}

function areApart(one: IssuerConfig, other: IssuerConfig): boolean {
  return one.match.some(({ name, value }) =>
    other.match.some((each) => each.name === name && each.value !== value),
  )
}

/** Whether tokens of the provider are accepted as bearer tokens that the issuer signs as well. */
function isAccepted(oidc: OidcConfig, { issuer, audience }: IssuerConfig): boolean {
  if (!oidc.acceptProviderTokens || oidc.issuer !== issuer) return false
  return [oidc.clientId, ...oidc.audience].includes(audience)
}
