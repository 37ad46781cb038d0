/** `scim:` of a tenant: its identity provider keeps users and groups here (RFC 7643, RFC 7644). */

import type { ScimMode } from '../../seats-admin/model/scim.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { nonEmpty } from './provider-values.ts'
import type { Section } from './section.ts'
import { list, map, optional, required, setting, text } from './setting.ts'

/** What a Bearer credential may be (RFC 6750, section 2.1). */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/
const MIN_BYTES = 32

/** A token that the provider can send. No message contains it. */
const scimToken: ValueParser<string> = (value) => {
  if (value.length < MIN_BYTES)
    return new InvalidValue(
      `has ${value.length} bytes: a token must have at least ${MIN_BYTES}; "openssl rand -hex 32" prints a fresh one`,
    )
  return BEARER.test(value)
    ? value
    : new InvalidValue(
        'has characters that a Bearer token cannot have: only A-Z a-z 0-9 - . _ ~ + / and = at the end',
      )
}

const PRIVATE = { privacy: 'secret', examples: ['${ACME_SCIM_TOKEN}'] } as const

const single = text(
  'The Bearer token of the provider: at least 32 bytes, and of no other use. A list of two, [new, old], while one replaces the other. Keep it out of this file: ${ACME_SCIM_TOKEN}.',
  scimToken,
  PRIVATE,
)
const both = list('', scimToken, {
  privacy: 'secret',
  minItems: 1,
  maxItems: 2,
  distinct: true,
  items: { examples: PRIVATE.examples },
})

const token = setting(
  { ...both.schema, ...single.schema, type: ['string', 'array'] },
  (section, key): readonly string[] => {
    if (Array.isArray(section.value(key))) return both.read(section, key)
    const value = single.read(section, key)
    return Object.freeze(value === null ? [] : [value])
  },
)

const byName = text(
  'How a SCIM user and a caller meet. externalId: the externalId of the SCIM user is the sub of the caller. userName: the userName is, as it is written. {claim: oid}: the externalId is the claim of this name, or path, in the ID token. Never an email address.',
  (value: string): ScimMode | InvalidValue =>
    value === 'externalId' || value === 'userName'
      ? value
      : new InvalidValue('is not externalId, userName or a map {claim: NAME}'),
  { pattern: '^(externalId|userName)$', default: 'externalId', examples: ['userName'] },
)
const byClaim = map('', {
  claim: required(
    text('The claim, or a path to it such as org.id.', nonEmpty, { placeholder: '', examples: ['oid'] }),
  ),
})

/** The member key of callers; see `ScimMode`. */
export type ScimUserKey =
  | { readonly mode: Exclude<ScimMode, 'claim'>; readonly claim: null }
  | { readonly mode: 'claim'; readonly claim: string }

const user = setting(
  { ...byClaim.schema, ...byName.schema, type: ['string', 'object'] },
  (section, key): ScimUserKey => {
    const value = section.value(key)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return Object.freeze({ mode: 'claim', claim: byClaim.read(section, key).claim })
    const mode = byName.read(section, key)
    return Object.freeze({ mode: mode === 'userName' ? mode : 'externalId', claim: null })
  },
)

const provisioning = map(
  "Users and groups that the tenant's identity provider keeps here by SCIM 2.0, below /scim/TENANT/v2. A user whom it deactivates is signed out and blocked. Requires oidc. See scim.md.",
  { token: required(token), user },
)

export type ScimConfig = ReturnType<typeof provisioning.of>

export const scim = optional(provisioning)

interface Others {
  /** What tokens of SCIM must not equal: the text → its use, for a message. */
  readonly secrets: Map<string, string>
  readonly acceptsProviderTokens: boolean
  readonly hasProvider: boolean
}

/**
 * Reports what contradicts the rest of the tenant. The provider knows the token: as a secret, it could sign
 * tokens with it, and as a token of another tenant, it could block the users of that tenant.
 *
 * @param tenant the section of the tenant
 * @param others `secrets` gets the tokens of this tenant
 */
export function checkScim(tenant: Section, id: string, config: ScimConfig, others: Others): void {
  const { secrets, acceptsProviderTokens, hasProvider } = others
  if (!hasProvider)
    tenant.faultAtKey('scim', 'scim: requires oidc, where its users sign in: add it, or remove scim')
  // A user who never signed in has no sub yet, so that a deactivation could not name one.
  if (config.user.mode === 'claim' && acceptsProviderTokens)
    tenant
      .section('scim')
      .fault(
        'user',
        'user: with a claim, accept_provider_tokens would accept users whom SCIM has deactivated before they signed in: remove one of them, or set seats_from: scim',
      )
  for (const [at, value] of config.token.entries()) {
    const use = secrets.get(value)
    if (use !== undefined)
      tenant
        .section('scim')
        .fault(
          'token',
          `token: ${config.token.length > 1 ? `number ${at + 1} ` : ''}is also ${use}: give SCIM a token of its own`,
        )
    secrets.set(value, use ?? `the SCIM token of tenant ${id}`)
  }
}
