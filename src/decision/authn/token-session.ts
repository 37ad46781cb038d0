/**
 * The session of a bearer token: a token that names one (`sid`) counts only while that session has not ended. Sessions are
 * read from memory under the lease, as for cookies, so a request costs one lookup.
 *
 * The expiry of the session is not checked: no token is minted beyond it, and its row is kept for longer.
 */

import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import type { Trace } from '../../model/decision.ts'
import { Refusal } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'

/** The current session; null: unknown. Rejects when the store can't be asked. */
export type SessionLookup = (
  tenant: string,
  id: string,
  trace?: Trace,
) => SessionRecord | null | Promise<SessionRecord | null>

const ended = new Refusal('token_invalid', 'The session of the token has ended. Sign in again.')

type Caller = Principal | Refusal

/** Refuses the token of an ended or unknown session. */
export function requireLiveSession(
  caller: Caller,
  sessionById: SessionLookup,
  trace?: Trace,
): Caller | Promise<Caller> {
  if (caller instanceof Refusal || caller.session === null) return caller
  const record = sessionById(caller.tenant, caller.session, trace)
  return record instanceof Promise
    ? record.then((found) => ofSession(caller, found))
    : ofSession(caller, record)
}

function ofSession(caller: Principal, record: SessionRecord | null): Caller {
  return record === null || record.endedAt !== null ? ended.of(caller) : caller
}
