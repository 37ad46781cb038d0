/**
 * For the tests of this folder: two tenants, and tokens built character by character, by a signer that shares no code
 * with the gateway's.
 */

import { createHmac } from 'node:crypto'
import { Authenticator, type AuthenticatorOptions } from '../../../src/decision/authn/authenticator.ts'
import { DEFAULT_MEMORY } from '../../support/default-settings.ts'
import type { TenantConfig, TokenConfig } from '../../../src/config/config.ts'
import { Refusal } from '../../../src/model/errors.ts'
import { type Credentials, NO_CREDENTIALS } from '../../../src/model/authorization-request.ts'
import type { Principal } from '../../../src/model/principal.ts'

/** ms; in the middle of a second. */
export const NOW = 1_800_000_000_500
/** The same in whole seconds. */
export const SECOND = 1_800_000_000

export const secrets = {
  acme: Buffer.from('acme-secret-of-more-than-32-bytes-0001'),
  acmeOld: Buffer.from('acme-secret-of-more-than-32-bytes-0000'),
  globex: Buffer.from('globex-secret-of-more-than-32-bytes-01'),
}

export function tenant(id: string, token: Partial<TokenConfig> & Pick<TokenConfig, 'secrets'>): TenantConfig {
  return {
    id,
    adminSpace: 'admin',
    token: { algorithm: 'HS256', lifetime: 3_600_000, leeway: 0, ...token },
    oidc: null,
  }
}

export const acme = tenant('acme', { secrets: [secrets.acme, secrets.acmeOld] })
export const globex = tenant('globex', { secrets: [secrets.globex] })

export function tenants(...all: TenantConfig[]): ReadonlyMap<string, TenantConfig> {
  return new Map(all.map((each) => [each.id, each]))
}

/** At `NOW`, with both tenants, acme as the default, no API keys and no sessions. */
export function authenticator(options: Partial<AuthenticatorOptions> = {}): Authenticator {
  return new Authenticator({
    tenants: tenants(acme, globex),
    defaultTenant: 'acme',
    apiKeyById: () => null,
    sessionById: () => null,
    now: () => NOW,
    memory: DEFAULT_MEMORY,
    ...options,
  })
}

export function credentials(given: Partial<Credentials>): Credentials {
  return { ...NO_CREDENTIALS, ...given }
}

/** The result for a bearer token: the Principal, or the code of the refusal. */
export async function bearer(
  text: string,
  options: Partial<AuthenticatorOptions> = {},
): Promise<Principal | string> {
  return resultOf(authenticator(options), { authorization: [`Bearer ${text}`] })
}

export async function resultOf(
  authn: Authenticator,
  given: Partial<Credentials>,
): Promise<Principal | string> {
  const answer = await authn.authenticate(credentials(given))
  return answer instanceof Refusal ? answer.code : answer
}

export const base64url = (text: string | Uint8Array) => Buffer.from(text).toString('base64url')

/** Claims of a valid token of acme's. */
export const claims = Object.freeze({
  sub: 'alice',
  email: 'alice@acme.example',
  tenant_id: 'acme',
  hash_perm: ['s1:Viewer'],
  exp: SECOND + 3600,
  iat: SECOND,
  nbf: SECOND,
})

const HASHES: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }

/** A token of exactly these bytes. `header` and `payload`: JSON text, or a value to serialize. */
export function sign(
  payload: unknown = claims,
  {
    header = { alg: 'HS256', typ: 'JWT' } as unknown,
    secret = secrets.acme as Uint8Array,
    hash = 'HS256',
  } = {},
): string {
  const part = (content: unknown) =>
    base64url(
      typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
    )
  return signInput(`${part(header)}.${part(payload)}`, secret, hash)
}

/** Signs header and payload parts that the caller has encoded. */
export function signInput(input: string, secret: Uint8Array = secrets.acme, hash = 'HS256'): string {
  return `${input}.${createHmac(HASHES[hash] ?? hash, secret)
    .update(input)
    .digest('base64url')}`
}
