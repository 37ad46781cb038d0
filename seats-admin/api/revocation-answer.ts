/** What a revocation is answered, for administrators and for identity providers alike. */

import { committedOf } from '../model/change.ts'
import type { Revocation } from '../model/revocation.ts'
import type { Written } from '../store/writer.ts'
import type { AdminDeps } from './admin-endpoint.ts'
import { answerForm, type RevocationAnswer } from './revocation-views.ts'

/**
 * Waits until no instance decides otherwise, and stores the answer with its receipt before it is sent: no
 * caller knows a receipt that the gateway does not. Rejects if the store is unavailable: the revocation is
 * made then.
 */
export async function answerRevocation(
  {
    store,
    revoking,
    now,
  }: Pick<AdminDeps, 'revoking' | 'now'> & {
    readonly store: Pick<AdminDeps['store'], 'answerRevocation'>
  },
  written: Written<Revocation>,
): Promise<RevocationAnswer> {
  const { value: made } = written
  const { tenant, audit } = made
  const reached = await revoking.revoke(committedOf(written))
  const answer = answerForm(made, reached, revoking.unreached(tenant, made.subject), now())
  const stored = { ...answer, receipt: revoking.sign?.({ tenant, ...answer, audit }) ?? null }
  await store.answerRevocation(tenant, made.id, JSON.stringify(stored))
  revoking.answered(stored.state)
  return stored
}
