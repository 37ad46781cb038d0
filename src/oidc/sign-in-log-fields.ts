/** What lines of the log say of the request, the user and the session that they are about. */

import type { Context } from './context.ts'
import type { OidcLog } from './ports.ts'

export interface LogSubject {
  /** `sub`, from a token that was verified, or from the record of a session. */
  readonly user: string
  /** Its id; left out: there is none, or none yet. */
  readonly session?: string
}

/** A log whose lines have these fields too. */
export function withFields(log: OidcLog, more: Readonly<Record<string, unknown>>): OidcLog {
  const write =
    (level: keyof OidcLog): OidcLog['info'] =>
    (fields, message) =>
      log[level]({ ...more, ...fields }, message)
  return { info: write('info'), warn: write('warn'), error: write('error') }
}

/** Every line of the log that the request causes has its id. @param requestId null: no request caused the work */
export function ofRequest(log: OidcLog, requestId: string | null): OidcLog {
  return requestId === null ? log : withFields(log, { request_id: requestId })
}

/** The context of work on one user or session, which each line of its log names. */
export function about(context: Context, { user, session }: LogSubject): Context {
  const fields = session === undefined ? { user } : { user, session }
  return { ...context, log: withFields(context.log, fields) }
}
