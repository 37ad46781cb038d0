/** `tenants:` and `default_tenant:`. */

import { isTenantId } from '../../seats-admin/model/tenant.ts'
import { frozenMap } from './frozen.ts'
import { confidential, InvalidValue, quote, type ValueParser } from './invalid-value.ts'
import { type IssuerConfig, issuers, type PlacedIssuer, reportSharedIssuers } from './issuer-settings.ts'
import {
  checkRedirectUri,
  oidc,
  type OidcConfig,
  reportSharedClient,
  type TenantsByClient,
} from './oidc-settings.ts'
import { checkScim, scim, type ScimConfig } from './scim-settings.ts'
import type { Section } from './section.ts'
import { choice, duration, list, map, mapOf, required, text } from './setting.ts'
import { spaceId } from './space-settings.ts'

const RAW = 'base64url:'
const MIN_BYTES = 32

/**
 * Reads a secret: plain text, or `base64url:` followed by encoded bytes. It has at least 32 bytes (RFC 7518,
 * section 3.2, for HS256). No message contains the secret.
 */
export function secret(text: string): Uint8Array | InvalidValue {
  const bytes = text.startsWith(RAW) ? canonicalBytes(text.slice(RAW.length)) : Buffer.from(text, 'utf8')
  if (bytes instanceof InvalidValue) return bytes
  if (bytes.length >= MIN_BYTES) return new Uint8Array(bytes)
  return new InvalidValue(
    `has ${bytes.length} bytes: a secret must have at least ${MIN_BYTES}; "openssl rand -hex 32" prints a fresh one`,
  )
}

/**
 * Accepts the canonical encoding only (RFC 4648, section 3.5): no padding, no trailing bits that are set, no
 * other characters.
 */
function canonicalBytes(text: string): Buffer | InvalidValue {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') === text) return bytes
  return new InvalidValue('is not canonical base64url (A-Z a-z 0-9 - _, no padding) after "base64url:"')
}

const token = map("The gateway's own tokens (JWT, HMAC).", {
  secrets: required(
    list(
      'The first secret signs; all of them verify. Write plain text, or base64url:… for raw bytes; at least 32 bytes each. Keep them out of this file: ${ACME_TOKEN_SECRET}.',
      secret,
      { privacy: 'secret', minItems: 1, items: { examples: ['${ACME_TOKEN_SECRET}'] } },
    ),
  ),
  algorithm: choice('The only algorithm that signs and verifies.', ['HS256', 'HS384', 'HS512'], {
    default: 'HS256',
    examples: ['HS512'],
  }),
  lifetime: duration('Lifetime of the tokens that the gateway issues.', '1s', '3650d', {
    default: '1h',
    examples: ['15m'],
  }),
  leeway: duration(
    "Clock difference to allow for exp, nbf and iat, and between the issue of a token and the moment when a Seat's name was given up.",
    '0s',
    '1h',
    { default: '0s', examples: ['5s'] },
  ),
})

export const tenants = mapOf(
  map('', {
    adminSpace: text(
      'The admin space. Callers with permissions in this space manage every Seat and API key of the tenant.',
      spaceId,
      { pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$', default: 'admin', examples: ['admin'] },
    ),
    token: required(token),
    oidc,
    issuers,
    scim,
    seatsFrom: choice(
      "What gives users their Seats. claim: the Seats that the identity provider names at sign-in (oidc.seats_claim). scim: the Seats that have the names of the user's groups by SCIM, as they are at each request; requires scim. It does not concern API keys and issuers.",
      ['claim', 'scim'],
      { default: 'claim', examples: ['scim'] },
    ),
  }),
  'The customers of the platform, by id. An id has at most 63 lowercase letters, digits and -, and begins with a letter or digit.',
  { minProperties: 1, propertyNames: { pattern: '^[a-z0-9][a-z0-9-]{0,62}$' } },
  (id) =>
    isTenantId(id)
      ? null
      : `tenant ${quote(id)}: an id must be 1 to 63 lower-case letters, digits and -, and must not begin with -`,
)

export type TokenConfig = ReturnType<typeof token.of>

export interface TenantConfig {
  readonly id: string
  readonly adminSpace: string
  readonly token: TokenConfig
  /** The identity provider; null: the tenant has no sign-in. */
  readonly oidc: OidcConfig | null
  /** The issuers of accepted bearer tokens, in addition to the gateway and `oidc`; left out: none. */
  readonly issuers?: readonly IssuerConfig[]
  /** What the identity provider keeps by SCIM; null or left out: nothing. */
  readonly scim?: ScimConfig | null
  /** What gives users their Seats; left out: `claim`. */
  readonly seatsFrom?: 'claim' | 'scim'
}

/** @param authPrefix the prefix of the sign-in endpoints; '': none */
export function buildTenants(
  values: ReturnType<typeof tenants.read>,
  all: Section,
  authPrefix: string,
): ReadonlyMap<string, TenantConfig> {
  /** Secret in hexadecimal digits → the first tenant with it. */
  const ownerOf = new Map<string, string>()
  const byClient: TenantsByClient = new Map()
  const placed: PlacedIssuer[] = []
  for (const [id, { oidc: provider, issuers: own }] of values) {
    const section = all.section(id)
    const sections = section.sections('issuers')
    checkRedirectUri(section.section('oidc'), id, authPrefix)
    reportSharedClient(section.section('oidc'), id, provider, byClient)
    section.section('token').texts('secrets', confidential(unique(id, ownerOf)))
    placed.push(
      ...sections.flatMap((each, at) => {
        const config = own[at]
        return config === undefined ? [] : [{ section: each, tenant: id, config }]
      }),
    )
  }
  reportSharedIssuers(placed, values)
  reportSharedHmac(all, values, ownerOf)
  reportSharedScim(all, values)
  return frozenMap(new Map([...values].map(([id, tenant]) => [id, Object.freeze({ id, ...tenant })])))
}

/**
 * Refuses a client secret that signs ID tokens and something else too. A provider knows the secret: it could
 * sign tokens of the gateway, or ID tokens of another provider.
 *
 * @param ownerOf the secrets of tokens in hexadecimal digits
 */
function reportSharedHmac(
  all: Section,
  values: ReturnType<typeof tenants.read>,
  ownerOf: ReadonlyMap<string, string>,
): void {
  const clients = new Map<string, { readonly tenant: string; readonly client: string }>()
  for (const [tenant, { oidc: provider }] of values) {
    if (provider === null || provider.idTokenSigningAlg === null || provider.clientSecret === null) continue
    const hex = Buffer.from(provider.clientSecret).toString('hex')
    const client = JSON.stringify([provider.issuer, provider.clientId])
    const [owner, other] = [ownerOf.get(hex), clients.get(hex)]
    clients.set(hex, other ?? { tenant, client })
    const use =
      owner !== undefined
        ? `a secret of the tokens of tenant ${owner}`
        : other !== undefined && other.client !== client
          ? `the client_secret of tenant ${other.tenant} at another provider`
          : null
    if (use !== null)
      all
        .section(tenant)
        .section('oidc')
        .fault(
          'client_secret',
          `client_secret: signs ID tokens with HS256, and is also ${use}: have the provider issue another one`,
        )
  }
}

/** Reports contradictions in SCIM settings, such as tokens that are something else too. */
function reportSharedScim(all: Section, values: ReturnType<typeof tenants.read>): void {
  const secrets = new Map<string, string>()
  for (const [id, { oidc: provider, token: own }] of values) {
    for (const each of own.secrets)
      secrets.set(Buffer.from(each).toString(), `a secret of the tokens of tenant ${id}`)
    const client = provider?.clientSecret ?? null
    if (client !== null) secrets.set(client, `the client_secret of tenant ${id}`)
  }
  for (const [id, { oidc: provider, scim: config, seatsFrom }] of values) {
    const section = all.section(id)
    if (config === null && seatsFrom === 'scim' && !section.has('scim'))
      section.fault(
        'seats_from',
        'seats_from: scim requires the section scim, where the groups are kept: add it',
      )
    if (config !== null)
      checkScim(section, id, config, {
        secrets,
        // Each decision looks up the user there.
        acceptsProviderTokens: provider?.acceptProviderTokens === true && seatsFrom === 'claim',
        hasProvider: provider !== null,
      })
  }
}

/** Refuses a secret of two tenants: a tenant that signs its own tokens could sign tokens of the other. */
function unique(tenant: string, ownerOf: Map<string, string>): ValueParser<string> {
  return (text) => {
    // The reader has accepted the text.
    const hex = Buffer.from(secret(text) as Uint8Array).toString('hex')
    const owner = ownerOf.get(hex)
    ownerOf.set(hex, owner ?? tenant)
    if (owner === undefined) return text
    return new InvalidValue(
      owner === tenant
        ? 'is listed twice: remove one'
        : `is also a secret of tenant ${owner}: give each tenant secrets of its own`,
    )
  }
}
