/** Keys and tokens for the tests of signed identity. Tokens are read by jose, an implementation of its own. */

import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose'
import type { Test } from 'tap'
import type { IdentityAlgorithm, IdentityConfig } from '../../src/config/config.ts'
import type { Identified } from '../../src/identity/signed-identity.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { ALICE } from '../proxy/support.ts'

export const HEADER = 'x-seatgate-jwt'

/** A private key, PKCS#8 in PEM. */
export function newKey(algorithm: IdentityAlgorithm = 'ES256'): string {
  const { privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('ed25519')
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Writes the key into a file that ends with the test. */
export function keyFile(t: Test, key = newKey()): string {
  const path = join(serverFolder(t, 'key'), 'key.pem')
  writeFileSync(path, key, { mode: 0o600 })
  return path
}

export function identityConfig(more: Partial<IdentityConfig> = {}): IdentityConfig {
  const algorithm = more.algorithm ?? 'ES256'
  return {
    header: HEADER,
    algorithm,
    keys: [newKey(algorithm)],
    lifetime: 60_000,
    issuer: 'seatgate',
    ...more,
  }
}

/** Of a decision for alice on a route that needs a permission. */
export function identified(more: Partial<Identified> = {}): Identified {
  const seats = [{ name: 'Viewer', id: '1', verdict: 'grants' }] as const
  return { principal: ALICE, space: 'main', permission: 'trainings:read', seats, ...more }
}

/** The claims of a valid token. Rejects on any other. */
export async function verified(
  token: string,
  keySet: string,
  audience: string,
  now = new Date(),
): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, createLocalJWKSet(JSON.parse(keySet)), {
    audience,
    issuer: 'seatgate',
    typ: 'seatgate+jwt',
    algorithms: ['ES256', 'EdDSA'],
    requiredClaims: ['sub', 'tenant', 'auth', 'iat', 'exp', 'jti'],
    currentDate: now,
  })
  return payload
}
