/** Writes to sessions. Runs in the writer's thread; each method in its own transaction. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Row } from '../rows.ts'
import { renewalValues, sessionOrNull, sessionValues, storedSession } from '../session-rows.ts'
import type { HandleProof, Renewal, Rotation, SessionChanged, StoredSession } from '../session-store.ts'
import {
  CLAIM,
  CREATE,
  END,
  FIND,
  GIVE_BACK,
  idTaken,
  mayRenew,
  outcomeOf,
  RENEW,
  sessionChange,
  sessionChanged,
  USE,
  useOf,
} from '../session-writes.ts'
import type { ChangeLog } from './change-log.ts'

export class SessionWriter {
  readonly #log: ChangeLog
  readonly #create: StatementSync
  readonly #find: StatementSync
  readonly #use: StatementSync
  readonly #giveBack: StatementSync
  readonly #claim: StatementSync
  readonly #renew: StatementSync
  readonly #end: StatementSync
  readonly #prune: StatementSync

  constructor(database: DatabaseSync, log: ChangeLog) {
    this.#log = log
    this.#create = database.prepare(CREATE)
    this.#find = database.prepare(FIND)
    this.#use = database.prepare(USE)
    this.#giveBack = database.prepare(GIVE_BACK)
    this.#claim = database.prepare(CLAIM)
    this.#renew = database.prepare(RENEW)
    this.#end = database.prepare(END)
    this.#prune = database.prepare(
      `DELETE FROM sessions WHERE rowid IN
         (SELECT rowid FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    )
  }

  create(session: StoredSession): void {
    if (this.#create.get(sessionValues(session)) === undefined) throw idTaken()
  }

  rotate(tenant: string, id: string, proof: HandleProof, next: Uint8Array, now: number): Rotation {
    const asked = useOf(tenant, id, proof, next, now)
    const row = this.#use.get(asked)
    if (row !== undefined) return { outcome: 'rotated', session: storedSession(row) }
    const outcome = outcomeOf(this.#row(tenant, id), asked)
    if (outcome === 'rotated') throw new Error('the session changed during a transaction')
    if (outcome === 'replayed') return { outcome, committed: this.#ended(tenant, id, now) }
    return { outcome }
  }

  giveBack(
    tenant: string,
    id: string,
    from: Uint8Array | null,
    to: Uint8Array | null,
    sealed: string | null,
  ): boolean {
    const values = { tenant, id, from_hash: from, to_hash: to, sealed }
    return this.#giveBack.get(values) !== undefined
  }

  claimRenewal(tenant: string, id: string, now: number, until: number): StoredSession | null {
    return sessionOrNull(this.#claim.get({ tenant, id, now, until }))
  }

  renew(tenant: string, id: string, handle: Uint8Array | null, renewal: Renewal): SessionChanged | null {
    if (!mayRenew(sessionOrNull(this.#row(tenant, id)), handle)) return null
    this.#renew.run({ tenant, id, ...renewalValues(renewal) })
    return this.#changed(tenant, id)
  }

  /** Announced each time: the first response may have been lost before the change was applied. */
  end(tenant: string, id: string, now: number): SessionChanged | null {
    return this.#row(tenant, id) === undefined ? null : this.#ended(tenant, id, now)
  }

  prune(before: number, limit: number): number {
    return Number(this.#prune.run(before, limit).changes)
  }

  #ended(tenant: string, id: string, now: number): SessionChanged {
    this.#end.run({ tenant, id, now })
    return this.#changed(tenant, id)
  }

  #changed(tenant: string, id: string): SessionChanged {
    return sessionChanged(this.#log.append([sessionChange(tenant, id)]), tenant, id)
  }

  #row(tenant: string, id: string): Row | undefined {
    return this.#find.get({ tenant, id })
  }
}
