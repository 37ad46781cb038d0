/** The refusals of what a revocation has voided. Neither says who revoked it, or why. */

import { Refusal } from './errors.ts'

export const sessionRevoked = new Refusal(
  'token_revoked',
  'A revocation has ended the session. Sign in again.',
)

/** @param cutoff whole seconds since the epoch */
export function tokenRevoked(cutoff: number): Refusal {
  const time = new Date(cutoff * 1000).toISOString().replace('.000', '')
  return new Refusal(
    'token_revoked',
    `A revocation has voided the tokens that were issued up to ${time}. Sign in again, or get a new token.`,
  )
}
