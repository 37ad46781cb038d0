/** Fingerprints of secrets, which tell secrets apart without showing them. */

import { createHmac } from 'node:crypto'
import type { TenantSecrets } from '../../seats-admin/model/registered-instance.ts'
import type { Config } from './config.ts'

const MESSAGE = 'seatgate fingerprint'
/** The number of hexadecimal digits, which is enough to tell the secrets of one tenant apart. */
const DIGITS = 12

/**
 * The first digits of HMAC-SHA-256 with the secret as its key. A secret has 32 bytes, so it cannot be
 * guessed.
 */
export function fingerprint(secret: Uint8Array): string {
  return createHmac('sha256', secret).update(MESSAGE).digest('hex').slice(0, DIGITS)
}

/** The fingerprints of the secrets of each tenant's tokens, in the order of the configuration. */
export function fingerprintsOf({ tenants }: Pick<Config, 'tenants'>): TenantSecrets {
  return Object.fromEntries([...tenants].map(([id, { token }]) => [id, token.secrets.map(fingerprint)]))
}
