/** Builds `tenants:` and `default_tenant:`. */

import { isTenantId } from '../../seats-admin/model/tenant.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import { confidential, InvalidValue, oneOf, quote } from './invalid-value.ts'
import { buildIssuers, type IssuerConfig, type PlacedIssuer, reportSharedIssuers } from './issuer-settings.ts'
import { buildOidc, type OidcConfig, reportSharedClient, type TenantsByClient } from './oidc-settings.ts'
import type { Section } from './section.ts'
import { spaceId } from './space-settings.ts'
import { durationWithin } from './units.ts'

export interface TenantConfig {
  readonly id: string
  readonly adminSpace: string
  readonly token: TokenConfig
  /** Null for a tenant without sign-in. */
  readonly oidc: OidcConfig | null
  /** Whose tokens are accepted as bearer tokens beside the gateway's own and those of `oidc`; left out: none. */
  readonly issuers?: readonly IssuerConfig[]
}

export type TokenConfig = ReturnType<typeof buildToken>

export function buildTenants(root: Section, { authPrefix }: BuiltInPlace): Map<string, TenantConfig> {
  const tenants = new Map<string, TenantConfig>()
  const all = root.section('tenants')
  /** Secret in hex → the first tenant that lists it. */
  const ownerOf = new Map<string, string>()
  const byClient: TenantsByClient = new Map()
  const issuers: PlacedIssuer[] = []
  for (const id of all.keys()) {
    if (!isTenantId(id)) {
      all.faultAtKey(
        id,
        `tenant ${quote(id)}: an id must be 1 to 63 lower-case letters, digits and -, and must not begin with -`,
      )
    }
    const section = all.section(id)
    const oidc = buildOidc(section.section('oidc'), id, authPrefix)
    reportSharedClient(section.section('oidc'), id, oidc, byClient)
    const token = buildToken(section.section('token'), id, ownerOf)
    const ownIssuers = buildIssuers(section, id)
    issuers.push(...ownIssuers)
    tenants.set(
      id,
      Object.freeze({
        id,
        adminSpace: section.setting('admin_space', spaceId),
        token,
        oidc,
        issuers: Object.freeze(ownIssuers.map(({ config }) => config)),
      }),
    )
  }
  reportSharedIssuers(issuers, tenants)
  return tenants
}

function buildToken(section: Section, tenant: string, ownerOf: Map<string, string>) {
  const unique = (text: string) => {
    const bytes = secret(text)
    if (bytes instanceof InvalidValue) return bytes
    const hex = Buffer.from(bytes).toString('hex')
    const owner = ownerOf.get(hex)
    ownerOf.set(hex, owner ?? tenant)
    if (owner === undefined) return bytes
    return new InvalidValue(
      owner === tenant
        ? 'is listed twice: remove one'
        : `is also a secret of tenant ${owner}: give each tenant secrets of its own`,
    )
  }
  section.warnOfSecrets('secrets')
  return Object.freeze({
    /** Raw bytes, at least 32 each; the first signs, all verify. */
    secrets: Object.freeze(section.texts('secrets', confidential(unique))),
    algorithm: section.choice<'HS256' | 'HS384' | 'HS512'>('algorithm'),
    lifetime: section.setting('lifetime', durationWithin('1s', '3650d')),
    leeway: section.setting('leeway', durationWithin('0s', '1h')),
  })
}

/** A single tenant is its own default. With several tenants and no default, tokens must carry `tenant_id`. */
export function buildDefaultTenant(root: Section, tenants: ReadonlyMap<string, TenantConfig>): string | null {
  const ids = [...tenants.keys()]
  const only = ids.length === 1 ? (ids[0] ?? null) : null
  return root.text('default_tenant', oneOf(tenants, 'a tenant')) ?? only
}

const RAW = 'base64url:'
const MIN_BYTES = 32

/**
 * Plain text, or `base64url:` followed by raw bytes: at least 32 (RFC 7518, section 3.2, for HS256). No message contains the
 * secret.
 */
export function secret(text: string): Uint8Array | InvalidValue {
  const bytes = text.startsWith(RAW) ? canonicalBytes(text.slice(RAW.length)) : Buffer.from(text, 'utf8')
  if (bytes instanceof InvalidValue) return bytes
  if (bytes.length >= MIN_BYTES) return new Uint8Array(bytes)
  return new InvalidValue(
    `has ${bytes.length} bytes: a secret must have at least ${MIN_BYTES}; "openssl rand -hex 32" prints a fresh one`,
  )
}

/** Accepts only the canonical encoding (RFC 4648, section 3.5): no padding, no non-zero trailing bits, no other characters. */
function canonicalBytes(text: string): Buffer | InvalidValue {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') === text) return bytes
  return new InvalidValue('is not canonical base64url (A-Z a-z 0-9 - _, no padding) after "base64url:"')
}
