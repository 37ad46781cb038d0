/**
 * `issuers:` of a tenant: issuers of bearer tokens that the gateway verifies with the issuer's public keys.
 */

import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { issuerUrl, type OidcConfig } from './oidc-settings.ts'
import { httpUrl, nonEmpty } from './provider-values.ts'
import type { Section } from './section.ts'
import {
  duration,
  flag,
  list,
  listOf,
  map,
  optional,
  type Reader,
  required,
  setting,
  text,
} from './setting.ts'

/**
 * Asymmetric algorithms only. With HMAC, anyone who reads the issuer's public key could sign a token with it,
 * and with `none` anyone could write one: the caller would hold the Seats of the tenant.
 */
const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

const algorithm: ValueParser<string> = (text) =>
  ALGORITHMS.includes(text) ? text : new InvalidValue(`is not one of ${ALGORITHMS.join(', ')}`)

/** Users appear as `issuer|user`. With a `|` in an issuer, two users could have the same text. */
const tokenIssuer: Reader<string> = (text, section) =>
  text.includes('|')
    ? new InvalidValue('has a |, which separates issuer and user: an issuer with it cannot be used')
    : issuerUrl(text, section)

const keysUrl: Reader<string> = (text, section) => {
  const url = httpUrl(text)
  if (url === null || text.includes('#'))
    return new InvalidValue('must be an https:// URL without user name, password or fragment')
  const host = issuerUrl(url.origin, section)
  return host instanceof InvalidValue ? host : text
}

/**
 * The claims that a token must have: each name, or path through objects, with the value that the claim equals
 * or lists.
 */
function matchesOf(section: Section) {
  return section.keys().flatMap((name) => {
    const value = section.value(name)
    return typeof value === 'string' || typeof value === 'boolean' ? [Object.freeze({ name, value })] : []
  })
}

const MATCH = {
  description:
    'Claims that a token must have in addition to issuer and audience: the name of each claim, or a path to it, and its value. If the claim is a list, the value must be in it.',
  type: 'object',
  minProperties: 1,
  propertyNames: { minLength: 1 },
  additionalProperties: { type: ['string', 'boolean'] },
  examples: [{ repository_owner_id: '5430905' }],
}

const issuer = map(
  '',
  {
    issuer: required(
      text(
        'The iss claim of its tokens, compared as text. Must be https, unless allow_insecure is set.',
        tokenIssuer,
        { placeholder: '', examples: ['https://token.actions.githubusercontent.com'] },
      ),
    ),
    audience: required(
      text('The value that the aud claim of a token must equal or, if it is a list, contain.', nonEmpty, {
        placeholder: '',
        examples: ['https://gw.example'],
      }),
    ),
    jwksUri: text(
      "Location of the issuer's public keys. Its host may have an internal address, and may be reached through a proxy from the environment. Without this key, the location comes from the issuer's discovery document.",
      keysUrl,
      { examples: ['https://kubernetes.default.svc/openid/v1/jwks'] },
    ),
    algorithms: list(
      'Signature algorithms to accept: RSA (RS256 to PS512), ECDSA (ES256 to ES512), EdDSA and Ed25519.',
      algorithm,
      { minItems: 1, default: ['RS256', 'ES256', 'EdDSA'], items: { examples: ['RS256'] } },
    ),
    seats: optional(
      list(
        'Names of the Seats that each accepted token holds, as these Seats are at the time of the request. An issuer has either seats or seats_claim.',
        nonEmpty,
        { minItems: 1, items: { examples: ['Deployer'] } },
      ),
    ),
    seatsClaim: text(
      'The claim that lists the Seats of a token (one name or a list), or a path to it such as realm_access.roles.',
      nonEmpty,
      { examples: ['roles'] },
    ),
    match: setting(MATCH, (section, key) => Object.freeze(matchesOf(section.section(key)))),
    userClaim: text(
      'The claim that identifies the user. The user appears as ISSUER|VALUE everywhere: in headers, log lines, the audit log and blocks.',
      nonEmpty,
      { default: 'sub', examples: ['sub'] },
    ),
    maxLifetime: duration('The longest accepted time between iat and exp of a token.', '1s', '3650d', {
      default: '1h',
      examples: ['1h'],
    }),
    allowInsecure: flag('Allow an issuer and jwks_uri with plain http on a loopback address.'),
  },
  (values, section) => {
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
    return Object.freeze(values)
  },
)

export const issuers = listOf(
  issuer,
  'Other issuers whose tokens are accepted as bearer tokens, such as Kubernetes, a CI system or another provider. See tokens.md.',
  {
    default: [],
    examples: [
      [
        {
          issuer: 'https://token.actions.githubusercontent.com',
          audience: 'https://gw.example',
          seats: ['Deployer'],
          match: { repository_owner_id: '5430905' },
        },
      ],
    ],
  },
)

export type IssuerConfig = ReturnType<typeof issuer.of>
export type ClaimMatch = IssuerConfig['match'][number]

/** An entry of `issuers` with its tenant and its section. */
export interface PlacedIssuer {
  readonly section: Section
  readonly tenant: string
  readonly config: IssuerConfig
}

/**
 * Finds entries that would accept the same token, in one tenant or in two. A user of one tenant could then
 * act as a user of the other, so both entries of a pair need a claim in `match` with different values. The
 * fault is reported at the second entry.
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

/** Whether `accept_provider_tokens` accepts the tokens of this issuer already. */
function isAccepted(oidc: OidcConfig, { issuer, audience }: IssuerConfig): boolean {
  if (!oidc.acceptProviderTokens || oidc.issuer !== issuer) return false
  return [oidc.clientId, ...oidc.audience].includes(audience)
}
