/** The ends of sessions and of API keys, as parts of a write that has read their rows. */

import type { ApiKey } from '../model/api-key.ts'
import type { Change } from '../model/change.ts'
import { apiKeyEvent } from './audit-forms.ts'
import type { Dialect } from './rows.ts'
import type { Effect, Transaction } from './transaction.ts'

/** The parameters of different effects have different names. */
export function together(effects: readonly Effect[]): Effect {
  return {
    parts: effects.flatMap(({ parts }) => parts),
    changes: effects.flatMap(({ changes }) => changes),
    values: Object.assign({}, ...effects.map(({ values }) => values)),
  }
}

export function sessionChange(tenant: string, id: string): Change {
  return { tenant, kind: 'session', key: id }
}

export function apiKeyChange(tenant: string, id: string): Change {
  return { tenant, kind: 'api-key', key: id }
}

export function endings({ texts }: Dialect) {
  // An ended session keeps its time. The provider's tokens are not needed any more.
  const end = `UPDATE sessions SET ended_at = coalesce(ended_at, :ended_at), sealed = '',
      revoked = CASE WHEN ended_at IS NULL THEN :by_revocation ELSE revoked END
    WHERE tenant = :tenant AND id IN (${texts(':session_ids')})`
  // Their Seats are mapped again before they count. Two events of one millisecond leave different times: what the
  // provider said between them does not count.
  const voidTokens = `UPDATE sessions SET renew_at = 0,
      void_until = CASE WHEN void_until < :void_until THEN :void_until ELSE void_until + 1 END
    WHERE tenant = :tenant AND id IN (${texts(':session_ids')})`
  // A second revocation keeps the first time.
  const revoke = `UPDATE api_keys SET revoked_at = coalesce(revoked_at, :revoked_at), version = version + 1
    WHERE tenant = :tenant AND id IN (${texts(':key_ids')})`
  return {
    /** @param at ms since the epoch */
    endSessions(tenant: string, ids: readonly string[], at: number, byRevocation = false): Effect {
      return {
        parts: [end],
        changes: ids.map((id) => sessionChange(tenant, id)),
        values: {
          tenant,
          session_ids: JSON.stringify(ids),
          ended_at: at,
          by_revocation: Number(byRevocation),
        },
      }
    },

    /** Voids the tokens of sessions, which stay. @param at ms since the epoch */
    voidTokens(tenant: string, ids: readonly string[], at: number): Effect {
      return {
        parts: [voidTokens],
        changes: ids.map((id) => sessionChange(tenant, id)),
        values: { tenant, session_ids: JSON.stringify(ids), void_until: at },
      }
    },

    /** @param at ms since the epoch */
    revokeApiKeys(tenant: string, ids: readonly string[], at: number): Effect {
      return {
        parts: [revoke],
        changes: ids.map((id) => apiKeyChange(tenant, id)),
        values: { tenant, key_ids: JSON.stringify(ids), revoked_at: at },
      }
    },
  }
}

/** @param at ms since the epoch */
export function recordRevocation(transaction: Transaction, key: ApiKey, at: number): void {
  const after = { ...key, version: key.version + 1, revokedAt: key.revokedAt ?? at }
  transaction.record(apiKeyEvent('api_key.revoke', key, after))
}
