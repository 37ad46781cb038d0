/** Whether an API key is valid. */

/**
 * @param {import('./answers.d.ts').ApiKey} key
 * @returns {'valid' | 'expired' | 'revoked'} a key that has expired may be revoked too
 */
export function keyState({ revoked_at: revoked, expires_at: expires }) {
  if (revoked) return 'revoked'
  return expires && Date.parse(expires) <= Date.now() ? 'expired' : 'valid'
}
