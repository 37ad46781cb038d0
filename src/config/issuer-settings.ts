/** Builds `issuers:` of a tenant: issuers whose tokens are verified by their public keys. */

import type { OidcConfig } from './config.ts'
import type { ClaimMatch, IssuerConfig } from './issuer-config.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { httpUrl, issuerUrl, nonEmpty } from './oidc-settings.ts'
import type { Section } from './section.ts'
import { durationWithin } from './units.ts'

/** Asymmetric ones only: with `none` and HMAC here, a public key would verify what any reader of it signs. */
const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** @param section of the tenant @param shared that of all tenants */
export function buildIssuers(
  section: Section,
  tenant: string,
  shared: SharedIssuers,
): readonly IssuerConfig[] {
  const built = section.sections('issuers').map(({ section: each }) => {
    const config = buildIssuer(each)
    shared.add(each, tenant, config)
    return config
  })
  return Object.freeze(built)
}

function buildIssuer(section: Section): IssuerConfig {
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
    issuer: section.text('issuer', tokenIssuer(allowInsecure)) ?? '',
    audience: section.text('audience', nonEmpty) ?? '',
    jwksUri: section.text('jwks_uri', keysUrl(allowInsecure)) ?? null,
    algorithms: Object.freeze(
      algorithms.length > 0 ? algorithms : (section.default('algorithms') as string[]),
    ),
    seats: hasSeats ? Object.freeze(section.texts('seats', nonEmpty)) : null,
    seatsClaim: section.text('seats_claim', nonEmpty) ?? null,
    match: Object.freeze(matchesOf(section.section('match'))),
    userClaim: section.setting('user_claim', nonEmpty),
    maxLifetime: section.setting('max_lifetime', durationWithin('1s', '3650d')),
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

function matchesOf(section: Section): ClaimMatch[] {
  return section.keys().flatMap((name) => {
    const value = section.value(name)
    return typeof value === 'string' || typeof value === 'boolean' ? [Object.freeze({ name, value })] : []
  })
}

interface Added {
  readonly section: Section
  readonly tenant: string
  readonly config: IssuerConfig
}

/**
 * Finds issuers whose token could be meant for more than one entry, of one tenant or of two. A user of one tenant could
 * call as a user of the other, so each pair requires a claim in `match` that has two values. The fault is reported at the
 * second entry.
 */
export class SharedIssuers {
  readonly #added: Added[] = []
  /** Providers whose tokens are accepted as bearer tokens. */
  readonly #providers: { readonly tenant: string; readonly oidc: OidcConfig }[] = []

  add(section: Section, tenant: string, config: IssuerConfig): void {
    if (config.issuer !== '' && config.audience !== '') this.#added.push({ section, tenant, config })
  }

  addProvider(tenant: string, oidc: OidcConfig | null): void {
    if (oidc?.acceptProviderTokens === true) this.#providers.push({ tenant, oidc })
  }

  /** Reports all faults, once everything is added. */
  report(): void {
    for (const [index, added] of this.#added.entries()) {
      const before = this.#added.slice(0, index)
      const other = before.find(
        ({ config }) => isSameParty(config, added.config) && !areApart(config, added.config),
      )
      if (other !== undefined) reportShared(added, other.tenant)
      const provider = this.#providers.find(({ oidc }) => isAccepted(oidc, added.config))
      if (provider !== undefined)
        added.section.fault(
          'audience',
          `audience: tenant ${provider.tenant} accepts these tokens by oidc.accept_provider_tokens already: leave out one of the two, or give the tokens for each an audience of its own`,
        )
    }
  }
}

function reportShared({ section, tenant }: Added, other: string): void {
  const where = other === tenant ? 'an earlier entry' : `tenant ${other}`
  section.fault(
    section.has('match') ? 'match' : 'audience',
    `${section.has('match') ? 'match' : 'audience'}: ${where} has the same issuer and audience: in match, give both a claim that has another value in each`,
  )
}

function isSameParty(one: IssuerConfig, other: IssuerConfig): boolean {
  return one.issuer === other.issuer && one.audience === other.audience
}

function areApart(one: IssuerConfig, other: IssuerConfig): boolean {
  return one.match.some(({ name, value }) =>
    other.match.some((each) => each.name === name && each.value !== value),
  )
}

function isAccepted(oidc: OidcConfig, { issuer, audience }: IssuerConfig): boolean {
  return oidc.issuer === issuer && [oidc.clientId, ...oidc.audience].includes(audience)
}
