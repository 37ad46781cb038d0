/** Tokens of identity providers that take effect once. */

/**
 * - `used`: it took effect everywhere
 * - `begun`: it took effect a moment ago, and it is not known yet whether everywhere
 */
export interface TokenState {
  readonly token: 'used' | 'begun'
}

export function isTokenState(value: unknown): value is TokenState {
  return typeof value === 'object' && value !== null && 'token' in value
}

/** Milliseconds from the effect of a token within which its sender is told. */
export const TOLD_WITHIN = 5000
