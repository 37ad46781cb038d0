/** The sign-in sessions of `--end-session`: made by the operator for this, because only a sign-in makes one. */

import { CommandFailed } from '../command.ts'
import type { Asked } from './asked-place.ts'
import type { Credential } from './expected-answers.ts'
import type { RunRecord } from './run-record.ts'
import type { TrialTokens } from './trial-tokens.ts'

type Ask = (credential: Credential) => Promise<Asked>

export class TrialSessions {
  readonly #waiting: string[]
  readonly #record: RunRecord
  readonly #ask: Ask

  private constructor(sessions: readonly string[], record: RunRecord, ask: Ask) {
    this.#waiting = [...sessions]
    this.#record = record
    this.#ask = ask
  }

  /** @throws CommandFailed: one of them is unknown, or has ended */
  static async find(
    sessions: readonly string[],
    tokens: TrialTokens,
    record: RunRecord,
    ask: Ask,
  ): Promise<TrialSessions> {
    for (const session of sessions)
      if ((await tokens.isLive(session, ask)) === false)
        throw new CommandFailed(
          `session ${session} of --end-session is unknown or has ended: GET /v1/sessions lists those of the tenant`,
        )
    return new TrialSessions(sessions, record, ask)
  }

  /** The next one to end. Null: there is none left, or the gateway does not decide now. */
  async next(tokens: TrialTokens): Promise<string | null> {
    for (;;) {
      const [session] = this.#waiting
      if (session === undefined) return null
      const isLive = await tokens.isLive(session, this.#ask)
      if (isLive === null) return null
      this.#waiting.shift()
      if (isLive) return session
      this.#record.notTested(`the end of session ${session}`, 'it ended before its turn')
    }
  }

  /** Those that were not ended stay. */
  close(): void {
    for (const session of this.#waiting)
      this.#record.notTested(`the end of session ${session}`, 'the run ended before its turn')
  }
}
