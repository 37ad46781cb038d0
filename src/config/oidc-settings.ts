/** `oidc:` of a tenant: its identity provider. */

import { isLoopback, origin } from './addresses.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { PEM_FILE } from './pem.ts'
import { checkEvents, events } from './events-settings.ts'
import { keyId, providerKey } from './provider-keys.ts'
import { httpUrl, INSECURE, nonEmpty } from './provider-values.ts'
import type { Section } from './section.ts'
import { duration, flag, list, map, optional, type Reader, required, setting, text } from './setting.ts'

const CALLBACK = '/auth/oidc/callback'
export const BACKCHANNEL_LOGOUT = '/auth/oidc/backchannel-logout'
export const GLOBAL_TOKEN_REVOCATION = '/auth/oidc/global-token-revocation'
export const SHARED_SIGNALS = '/auth/ssf'
/** A scope token (RFC 6749, appendix A): visible ASCII without quotes and backslash. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

export type OidcConfig = ReturnType<typeof provider.of>
const CLIENT_AUTH = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const
export type ClientAuth = (typeof CLIENT_AUTH)[number]
type TenantClaim = NonNullable<ReturnType<typeof tenantClaim.of>>

const scope: ValueParser<string> = (text) =>
  SCOPE_TOKEN.test(text)
    ? text
    : new InvalidValue('is not one scope: list each by itself, in visible ASCII without " and \\')

/**
 * An issuer. It is compared as text with the provider's own `issuer` (RFC 8414, section 3.3), so it is not
 * normalized.
 */
export const issuerUrl: Reader<string> = (text, section) => {
  const url = httpUrl(text)
  if (url === null || /[?#]/.test(text))
    return new InvalidValue('must be an https:// URL without user name, password, query or fragment')
  if (url.protocol === 'https:') return text
  if (!isLoopback(url.hostname)) return new InvalidValue(INSECURE)
  return section.flag('allow_insecure')
    ? text
    : new InvalidValue(
        'uses http://, which a loopback address may have with allow_insecure: use https://, or set allow_insecure: true',
      )
}

/** @returns `host:port`; the port is 443 by default */
const endpointHost: ValueParser<string> = (text) => {
  const url = /\s/.test(text) ? null : origin(`https://${text}`)
  if (url === null || url instanceof InvalidValue)
    return new InvalidValue('is not host or host:port, such as kc.internal:8443')
  return `${url.hostname}:${url.port || '443'}`
}

/** One of the words in the schema. */
const clientAuth: Reader<ClientAuth> = (text, section) => {
  const needed = text === 'none' ? null : text === 'private_key_jwt' ? 'client_key' : 'client_secret'
  return needed === null || section.has(needed)
    ? (text as ClientAuth)
    : new InvalidValue(`requires a ${needed}: add it, or write none`)
}

/** An HMAC key must be as long as the hash (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32

/** Reports credentials of the client that contradict each other. */
function checkClient(section: Section, { clientSecret, clientAuth: method, ...oidc }: ClientValues): void {
  const [hasSecret, hasKey] = [section.has('client_secret'), section.has('client_key')]
  const usesHmac = oidc.idTokenSigningAlg !== null
  if (hasKey && method !== null && method !== 'private_key_jwt')
    section.fault('client_key', `client_key: client_auth: ${method} does not use it: remove one of them`)
  else if (hasKey && hasSecret && !usesHmac)
    section.fault('client_secret', 'client_secret: the client_key takes its place: remove one of them')
  if (!usesHmac) return
  if (!hasSecret)
    section.fault(
      'id_token_signing_alg',
      'id_token_signing_alg: HS256 requires a client_secret, which signs and verifies: add it',
    )
  const bytes = Buffer.byteLength(clientSecret ?? '')
  if (clientSecret !== null && bytes < MIN_SECRET_BYTES)
    section.fault(
      'client_secret',
      `client_secret: has ${bytes} bytes: with HS256 it must have at least ${MIN_SECRET_BYTES}; have the provider issue a longer one`,
    )
  // A user could try secrets on an ID token of his own, and would then be any user to the API.
  if (oidc.acceptProviderTokens)
    section.fault(
      'accept_provider_tokens',
      'accept_provider_tokens: HS256 does not prove to an API that the provider signed a token: remove one of them',
    )
}

interface ClientValues extends Pick<OidcConfig, 'clientSecret' | 'acceptProviderTokens'> {
  readonly clientAuth: ClientAuth | null
  readonly idTokenSigningAlg: 'HS256' | null
}

/** Reports a key that signs and decrypts: what the provider sends would decide what the key is used on. */
function checkKeys(section: Section, clientKey: string | null, decryptionKeys: readonly string[]): void {
  if (clientKey !== null && decryptionKeys.some((each) => keyId(each) === keyId(clientKey)))
    section.fault('client_key', 'client_key: is one of decryption_keys too: make a key for each use')
}

/** A URL with https, or with http on loopback, which browsers also treat as a secure context. */
const redirectUri: ValueParser<string> = (text) => {
  const url = absoluteUrl(text)
  if (url instanceof InvalidValue) return url
  const { protocol, hostname } = new URL(text)
  return protocol === 'http:' && !isLoopback(hostname) ? new InvalidValue(INSECURE) : text
}

/**
 * Checks the path and the form of a redirect URI.
 *
 * @param callback the path of the gateway's endpoint
 */
function callbackUri(callback: string, tenant: string): ValueParser<string> {
  return (text) => {
    const { pathname, href } = new URL(text)
    if (text.includes('?') || (pathname !== callback && pathname !== `${callback}/${tenant}`))
      return new InvalidValue(`does not end with ${callback} or ${callback}/${tenant}`)
    // Providers compare the redirect URI as text, and the gateway sends its normal form.
    return text === href
      ? text
      : new InvalidValue(`is not in normal form: write ${href}, here and at the provider`)
  }
}

const absoluteUrl: ValueParser<string> = (text) => {
  if (httpUrl(text) === null || text.includes('#'))
    return new InvalidValue('must be an https:// URL without user name, password or fragment')
  return text
}

/** An origin in the form of the `Origin` header (RFC 6454, section 6.2). */
const pageOrigin: ValueParser<string> = (text) => {
  const url = httpUrl(text)
  if (url === null || text !== url.origin)
    return new InvalidValue('is not an origin as browsers write it: https://host or https://host:port')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return new InvalidValue(INSECURE)
  return text
}

/** The claim that distinguishes the users of tenants that share a provider. */
const tenantClaim = map(
  'A claim whose value the provider gives only to users of this tenant. Required for each tenant that shares issuer and client_id with another. It is checked at sign-in, refresh, remapping and validate, and for provider tokens. A different value gets 401 token_invalid.',
  {
    name: required(
      text(
        'A claim, or a path to it such as org.id. The gateway looks for it in the same way as for seats_claim.',
        nonEmpty,
        { examples: ['org_id'] },
      ),
    ),
    value: required(
      text('The value of the claim or, if the claim is a list, one of its elements.', nonEmpty, {
        examples: ['acme'],
      }),
    ),
  },
  ({ name, value }) => (name === null || value === null ? null : Object.freeze({ name, value })),
)

const provider = map(
  "Sign-in through the tenant's identity provider, with OpenID Connect.",
  {
    issuer: required(
      text(
        "The issuer, exactly as it is written in the provider's discovery document, with or without a trailing slash. Must be https, unless allow_insecure is set.",
        issuerUrl,
        { placeholder: '', examples: ['https://login.acme.example'] },
      ),
    ),
    clientId: required(
      text('The client id that the provider assigned to this gateway.', nonEmpty, {
        placeholder: '',
        examples: ['seatgate'],
      }),
    ),
    clientSecret: text(
      'The client secret; public clients have none. Keep it out of this file: ${ACME_OIDC_SECRET}.',
      nonEmpty,
      { privacy: 'secret', examples: ['${ACME_OIDC_SECRET}'] },
    ),
    clientAuth: text(
      'How the gateway authenticates at the provider. client_secret_basic percent-encodes characters other than letters, digits and -._~ (RFC 6749). For a provider that does not decode them, use client_secret_post. private_key_jwt signs an assertion with client_key (RFC 7523). Default: private_key_jwt with a client_key, otherwise as the discovery document specifies.',
      clientAuth,
      { enum: CLIENT_AUTH, examples: ['private_key_jwt'] },
    ),
    clientKey: text(
      'A PEM file with the private key for private_key_jwt, in place of client_secret, relative to this file: RSA of at least 2048 bits, P-256, P-384 or P-521. The provider must have the public key, which seatgate check prints. A changed key file is reloaded in the same way as this file.',
      providerKey,
      { ...PEM_FILE, examples: ['keys/acme-client.pem'] },
    ),
    decryptionKeys: list(
      'PEM files with private keys that decrypt ID tokens, relative to this file: RSA of at least 2048 bits (RSA-OAEP-256), P-256, P-384 or P-521 (ECDH-ES). The content must be encrypted with A128GCM or A256GCM. The provider must have the public keys, which seatgate check prints. An ID token that is only signed is accepted too.',
      providerKey,
      {
        default: [],
        maxItems: 4,
        distinct: keyId,
        items: { ...PEM_FILE, examples: ['keys/acme-id-tokens.pem'] },
      },
    ),
    idTokenSigningAlg: optional(
      setting<'HS256'>(
        {
          description:
            'Accept ID tokens that are signed with HS256 by the client_secret (at least 32 bytes), and no others. Not together with accept_provider_tokens. Default: asymmetric algorithms that the discovery document lists.',
          type: 'string',
          enum: ['HS256'],
          examples: ['HS256'],
        },
        () => 'HS256',
      ),
    ),
    scopes: list('Scopes that sign-in requests. openid is required.', scope, {
      default: ['openid', 'email', 'profile', 'offline_access'],
      items: { examples: ['openid', 'email', 'profile'] },
    }),
    seatsClaim: text(
      'The claim that lists Seats (one name or a list), or a path to it such as realm_access.roles. The gateway looks for it in the ID token, then in userinfo.',
      nonEmpty,
      { default: 'memberOf', examples: ['realm_access.roles'] },
    ),
    redirectUri: required(
      text(
        "The gateway's own origin as browsers see it, followed by /auth/oidc/callback or /auth/oidc/callback/TENANT, as registered at the provider.",
        redirectUri,
        { placeholder: '', examples: ['https://gw.example/auth/oidc/callback'] },
      ),
    ),
    acceptProviderTokens: flag(
      'Accept bearer tokens that the provider signed, if their aud is client_id or one of audience.',
    ),
    audience: list("Further values of aud to accept in the provider's tokens.", nonEmpty, {
      default: [],
      items: { examples: ['https://api.acme.example'] },
    }),
    postLogoutRedirect: text(
      'Where the provider sends the browser after sign-out, as registered at the provider.',
      absoluteUrl,
      { examples: ['https://www.acme.example/bye'] },
    ),
    sessionLifetime: duration('How long a browser or a refresh token stays signed in at most.', '1m', '90d', {
      default: '8h',
      examples: ['12h'],
    }),
    endpointHosts: list(
      "Hosts, with a port unless it is 443, where the provider's endpoints may have an internal address (loopback, private, link-local, shared, metadata). The issuer's own host and port always may. A proxy from the environment is used only for the issuer's host and for these hosts.",
      endpointHost,
      { default: [], items: { examples: ['kc.internal:8443'] } },
    ),
    revocation: flag(
      'Accept Global Token Revocation from the provider, such as Universal Logout of Okta. seatgate check prints the address to register.',
    ),
    events: optional(events),
    origins: list(
      "Origins, in addition to the gateway's own, whose HTML forms may start a sign-in (POST /auth/oidc/login).",
      pageOrigin,
      { default: [], items: { examples: ['https://www.acme.example'] } },
    ),
    tenantClaim: optional(tenantClaim),
    allowInsecure: flag('Allow an issuer with plain http on a loopback address.'),
  },
  (values, section) => {
    const listed = section.value('scopes')
    // The faults of elements are reported already.
    if (Array.isArray(listed) && listed.length === values.scopes.length && !values.scopes.includes('openid'))
      section.fault('scopes', 'scopes: must include openid, which OpenID Connect requires')
    checkClient(section, values)
    checkKeys(section, values.clientKey, values.decryptionKeys)
    checkEvents(section, values)
    return Object.freeze(values)
  },
)

export const oidc = optional(provider)

/**
 * @param section the section `oidc`
 * @param prefix the prefix of the sign-in endpoints; '': none
 */
export function checkRedirectUri(section: Section, tenant: string, prefix: string): void {
  section.text('redirect_uri', callbackUri(prefix + CALLBACK, tenant))
}

/**
 * The address that the provider sends logout tokens to. It contains the tenant's id, so that each tenant has
 * its own.
 *
 * @param prefix the prefix of the sign-in endpoints; '': none
 */
export function backchannelLogoutUri(
  { redirectUri }: OidcConfig,
  tenant: string,
  prefix: string,
): string | null {
  const url = URL.parse(redirectUri)
  return url === null ? null : `${url.origin}${prefix}${BACKCHANNEL_LOGOUT}/${tenant}`
}

/**
 * The address at which the provider requests revocations, which is the `aud` of its requests; that at which
 * it pushes events. As {@link backchannelLogoutUri}.
 */
export function signalUris({ redirectUri }: Pick<OidcConfig, 'redirectUri'>, tenant: string, prefix: string) {
  const origin = URL.parse(redirectUri)?.origin ?? ''
  return {
    revocation: `${origin}${prefix}${GLOBAL_TOKEN_REVOCATION}/${tenant}`,
    events: `${origin}${prefix}${SHARED_SIGNALS}/${tenant}`,
  }
}

/** The tenants by their issuer and client id. */
export type TenantsByClient = Map<
  string,
  { readonly tenant: string; readonly claimed: boolean; readonly claim: TenantClaim | null }[]
>

/**
 * Finds tenants that share a client of a provider. A user of one tenant could sign in to the other, so each
 * needs a claim that identifies its users. The fault is reported at the second tenant.
 *
 * @param byClient the tenants before this one, which is added
 */
export function reportSharedClient(
  section: Section,
  tenant: string,
  oidc: OidcConfig | null,
  byClient: TenantsByClient,
): void {
  if (oidc === null || oidc.issuer === '' || oidc.clientId === '') return
  // The same provider with and without a trailing slash.
  const key = JSON.stringify([new URL(oidc.issuer).href.replace(/\/+$/, ''), oidc.clientId])
  const others = byClient.get(key) ?? []
  const { tenantClaim: claim } = oidc
  // The fault of a tenant_claim is reported already.
  const claimed = section.has('tenant_claim')
  const unclaimed = others.find((other) => !other.claimed || !claimed)
  const same = others.find((other) => isSameClaim(other.claim, claim))
  if (unclaimed !== undefined)
    section.fault(
      'client_id',
      `client_id: tenant ${unclaimed.tenant} has the same issuer and client_id: each of these tenants requires a tenant_claim`,
    )
  else if (same !== undefined)
    section.fault(
      'tenant_claim',
      `tenant_claim: tenant ${same.tenant} has the same client_id and the same tenant_claim: give each tenant a claim of its own`,
    )
  byClient.set(key, [...others, { tenant, claimed, claim }])
}

function isSameClaim(one: TenantClaim | null, other: TenantClaim | null): boolean {
  return one !== null && one.name === other?.name && one.value === other.value
}
