/**
 * Tokens of identity providers that take effect once, as records among the logouts at the provider.
 *
 * A token is begun in the transaction of its effect, and used once its sender was told of that: one whose
 * sender was not told can be sent again. Of two at once, on any instances, one takes effect.
 */

import { createHash } from 'node:crypto'
import { TOLD_WITHIN, type TokenState } from '../model/used-token.ts'
import { logoutQueries } from './session-queries.ts'
import { integer } from './rows.ts'
import type { Transaction } from './transaction.ts'

const FIND = 'SELECT at FROM provider_logouts WHERE tenant = :tenant AND digest = :digest'

/**
 * Records that the provider said at a time whether the account of the user is disabled. A provider repeats
 * what was not confirmed, so that its word may arrive after a newer one: a user whom it disables again would be
 * locked out, and one whom it enables again would come back.
 *
 * Of two with the same time, the one that arrives later counts. Records live longer than events are accepted.
 *
 * @param at the time of the event in ms since the epoch
 * @returns whether a newer one took effect before
 */
export async function isOutdated(
  transaction: Transaction,
  tenant: string,
  user: string,
  at: number,
): Promise<boolean> {
  const digest = createHash('sha256')
    .update(JSON.stringify(['account', user]))
    .digest()
  const newest = await transaction.get(FIND, { tenant, digest })
  if (newest !== undefined && integer(newest, 'at') > at) return true
  await transaction.modify([logoutQueries.record], { tenant, digest, at })
  return false
}

/**
 * Begins the token, unless it is used or has just begun.
 *
 * @param token the digest of the token
 * @param at the time of the effect in ms since the epoch
 * @returns null if it takes effect in this transaction
 */
export async function beginToken(
  transaction: Transaction,
  tenant: string,
  token: Uint8Array,
  at: number,
): Promise<TokenState | null> {
  const begun = createHash('sha256').update('begun').update(token).digest()
  if ((await transaction.get(FIND, { tenant, digest: token })) !== undefined) return { token: 'used' }
  const before = await transaction.get(FIND, { tenant, digest: begun })
  if (before !== undefined && at - integer(before, 'at') < TOLD_WITHIN) return { token: 'begun' }
  await transaction.modify([logoutQueries.record], { tenant, digest: begun, at })
  return null
}
