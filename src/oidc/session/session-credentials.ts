/**
 * The credentials of a session: the cookie's value and the refresh handle. Both contain the tenant and the
 * session id, so that one point read finds the session, and secrets. Only SHA-256 hashes of the secrets are
 * stored.
 */

import { createHash, randomBytes } from 'node:crypto'
import { isTenantId } from '../../../seats-admin/model/tenant.ts'
import type { HandleProof } from '../../../seats-admin/index.ts'

/** A cookie: tenant; the session's id, 128 bits, not a secret; a secret of 256 bits. */
const COOKIE = /^([a-z0-9-]{1,63})\.([\w-]{22})\.([\w-]{43})$/
/**
 * A refresh handle: as a cookie, with two secrets. The prefix identifies refresh handles for secret scanners
 * and readers.
 */
const HANDLE = /^sgr_([a-z0-9-]{1,63})\.([\w-]{22})\.([\w-]{43})\.([\w-]{43})$/

export interface CookieHandle {
  readonly tenant: string
  readonly id: string
  readonly hash: Uint8Array
}

export interface RefreshHandle {
  readonly tenant: string
  readonly id: string
  /** The secret that all handles of the family share; needed to create the next one. */
  readonly family: string
  readonly proof: HandleProof
}

export function newSessionId(): string {
  return randomBytes(16).toString('base64url')
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}

/** All characters are valid in a cookie (RFC 6265, section 4.1.1). */
export function cookieText(tenant: string, id: string, secret: string): string {
  return `${tenant}.${id}.${secret}`
}

/** Null for any other text. */
export function parseCookieText(text: string): CookieHandle | null {
  const [, tenant = '', id = '', secret = ''] = COOKIE.exec(text) ?? []
  if (!isTenantId(tenant)) return null
  return { tenant, id, hash: sha256(secret) }
}

/**
 * `family` is constant, `rotating` changes with each use. A replayed handle is thus recognized by its family,
 * and used handles need not be stored.
 */
export function handleText(tenant: string, id: string, family: string, rotating: string): string {
  return `sgr_${tenant}.${id}.${family}.${rotating}`
}

/** Null for any other text. */
export function parseHandleText(text: string): RefreshHandle | null {
  const [, tenant = '', id = '', family = '', rotating = ''] = HANDLE.exec(text) ?? []
  if (!isTenantId(tenant)) return null
  return { tenant, id, family, proof: { family: sha256(family), handle: sha256(rotating) } }
}
