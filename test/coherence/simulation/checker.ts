/**
 * Records which writes have been acknowledged, and checks each decision:
 * - It is decided on a state at least as new as every write that was acknowledged before the request began.
 * - All that it has seen is of one single state of the store, which gives the same answer.
 * - No stream from before a revocation is open in a process that has said what it has cut.
 * - No stream is ended whose credential counts.
 * - No push of tables is answered that a live instance has refused.
 * - A stream stays open for at most two seconds after a write that refuses it was acknowledged.
 */

import type { Decision } from '../../../src/model/decision.ts'
import type { Database } from './database.ts'
import type { Context } from './context.ts'
import { isAllowedAt, isGenuineAt, Moment, type Question, recordsOf, type Seen, seenBy } from './questions.ts'
import { ALL_RECORDS, GRANT, isVoid, NEW_SESSIONS, type StoredRecord, type Version } from './records.ts'

export interface Violation {
  readonly kind: 'stale' | 'torn' | 'open' | 'uncut' | 'ended' | 'late' | 'no lease' | 'unprepared'
  readonly what: string
}

/** Record → number of its newest acknowledged write. */
export type Floor = ReadonlyMap<StoredRecord, number>

export class Checker {
  readonly violations: Violation[] = []
  readonly #database: Database
  readonly #trace: Context['trace']
  /** Copied on change: a request keeps the map from its start. */
  #answered: Floor = new Map()

  constructor(database: Database, trace: Context['trace']) {
    this.#database = database
    this.#trace = trace
  }

  /** The least versions that a request starting now must see. */
  get floor(): Floor {
    return this.#answered
  }

  /** @param records those of one commit, with the names of its Seats */
  answered(records: readonly StoredRecord[], seq: number): void {
    const answered = new Map(this.#answered)
    for (const record of records) answered.set(record, Math.max(seq, answered.get(record) ?? 0))
    this.#answered = answered
  }

  /** From now on, every write up to this one counts as acknowledged. */
  acknowledgeUpTo(seq: number): void {
    for (const record of ALL_RECORDS) this.answered([record], this.#database.versionAt(record, seq).seq)
  }

  check(process: string, floor: Floor, question: Question, decision: Decision, moment: Moment): void {
    const seen = seenBy(question, decision, moment)
    const [, granted] = seen.find(([record]) => record === GRANT) ?? []
    const what = `${process} decided on ${seen.map(textOf).join(', ')}`
    this.#trace?.(`${what}: ${decision.code}`)
    for (const each of seen) {
      const [record] = each
      const least = floor.get(record) ?? 0
      if (!this.#isFresh(each, least)) this.report('stale', `${what}: ${record.id} ${least} was answered`)
    }
    const { code, permission } = decision
    const least = leastOf(floor)
    const isOfOne = this.#statesSince(least, seen).some(
      (seq) =>
        seen.every(([record, ...state]) => isSeen(this.#database.versionAt(record, seq), ...state)) &&
        isAllowedAt(this.#database, question, permission ?? '', seq, ({ tag }) => tag === granted) ===
          (code === 'allow'),
    )
    if (!isOfOne) this.report('torn', `${what}: ${code}: no single state since ${least} has that`)
  }

  /**
   * A stream is still open two seconds after writes were acknowledged, or after a reload.
   *
   * @param floor from then
   * @param moment since then
   */
  checkOpen(process: string, floor: Floor, question: Question, permission: string, moment: Moment): void {
    const least = Math.max(0, ...recordsOf(question).map((record) => floor.get(record) ?? 0))
    const states = recordsOf(question).flatMap((record) => this.#database.versionsOf(record))
    const isAllowed = [least, ...states.map(({ seq }) => seq)].some(
      (seq) =>
        seq >= least &&
        isAllowedAt(
          this.#database,
          question,
          this.#database.permissionAt(seq) ?? permission,
          seq,
          ({ term }) => moment.mayCount(term),
        ),
    )
    const names = question.seats.map(({ id }) => id).join(' and ')
    if (!isAllowed)
      this.report(
        'open',
        `${process} has a stream of the ${nameOf(question)} for ${names}: no state since ${least} allows it`,
      )
  }

  /**
   * A stream that was decided before a revocation is still open, and its process has said that it has cut it.
   *
   * @param least the number of the revocation
   */
  checkCut(process: string, least: number, question: Question, decision: Decision): void {
    const changed = this.#database.changedBy(least)
    const outdated = seenBy(question, decision).find(
      (each) => changed.includes(each[0]) && !this.#isFresh(each, least) && !this.#wasVoid(each, least),
    )
    if (outdated !== undefined)
      this.report('uncut', `${process} has a stream from before ${least} on ${textOf(outdated)}`)
  }

  /**
   * A stream has been ended because its credential is void.
   *
   * @param floor from before it was decided
   */
  checkEnded(process: string, floor: Floor, question: Question): void {
    // A key and a session of the product do not come back. Here they do, and the notice that ended them may arrive later.
    if (this.#database.versionsOf(question.record).some(({ revoked }) => revoked)) return
    const least = leastOf(floor)
    const states = recordsOf(question).flatMap((record) => this.#database.versionsOf(record))
    const seqs = [least, ...states.map(({ seq }) => seq).filter((seq) => seq > least)]
    if (seqs.every((seq) => isGenuineAt(this.#database, question, seq)))
      this.report('ended', `${process} has ended a stream of a ${nameOf(question)} that counts`)
  }

  report(kind: Violation['kind'], what: string): void {
    this.#trace?.(`${kind}: ${what}`)
    this.violations.push({ kind, what })
  }

  /** An earlier revocation concerns the token: its notice may not have arrived. */
  #wasVoid([record, , detail]: Seen, least: number): boolean {
    const { cutoffs } = this.#database.versionAt(record, least - 1)
    return detail !== undefined && !(detail instanceof Moment) && isVoid(detail, cutoffs)
  }

  /** The record was, or was not, so at `least` or later. */
  #isFresh([record, ...state]: Seen, least: number): boolean {
    const versions = this.#database.versionsOf(record)
    const newer = versions.filter((_, at) => (versions[at + 1]?.seq ?? Infinity) > least)
    return newer.some((version) => isSeen(version, ...state))
  }

  /** One of them has all of it, if any state does: that one, or the one where the last of it began. */
  #statesSince(least: number, seen: readonly Seen[]): number[] {
    const begun = seen.flatMap(([record]) => this.#database.versionsOf(record).map(({ seq }) => seq))
    return [least, ...begun.filter((seq) => seq > least)]
  }
}

/** Every write that was acknowledged before precedes a decision, whatever it reads; the creation of a session is none. */
function leastOf(floor: Floor): number {
  const writes = [...floor].filter(([record]) => !NEW_SESSIONS.includes(record))
  return Math.max(0, ...writes.map(([, seq]) => seq))
}

function isSeen(version: Version, state: number | boolean, detail?: Seen[2]): boolean {
  const { exists, tag, revives, cutoffs, term } = version
  if (detail instanceof Moment) {
    if (state === false) return !exists || !detail.mustCount(term)
    return exists && tag === state && detail.mayCount(term)
  }
  const counts = detail === undefined ? exists && !revives : isVoid(detail, cutoffs)
  return typeof state === 'boolean' ? state === counts : counts && tag === state
}

/** For the trace. */
function textOf([{ id, kind }, state, detail]: Seen): string {
  if (detail instanceof Moment) return `${kind} ${state === false ? 'not in force' : state}`
  if (detail !== undefined) return `a token of ${detail.by} at ${detail.iat} ${state ? 'void' : 'valid'}`
  if (typeof state === 'number') return `${id} ${state}`
  return `${id} ${state ? 'present' : 'absent'}`
}

/** For the trace. */
function nameOf({ credential, record, token }: Question): string {
  return `${credential} of ${record.id}${token === null ? '' : ` by ${token.by} at ${token.iat}`}`
}
