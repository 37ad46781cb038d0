/**
 * What the gateways may answer to each credential of a run, and which answers break the promise: nothing stale after a 2xx.
 * Pure. All times are milliseconds of one process's monotonic clock, so that no clock of another machine matters.
 *
 * A read that began after the 2xx of a write must be decided on the state of that write, or on a later one. A read that
 * overlaps a write may be decided on the state before it or after it.
 */

/** A change that a gateway was asked to make. */
export interface Write {
  readonly operation: string
  /** The address that was asked. */
  readonly place: string
  readonly began: number
  /** When its 2xx arrived; Infinity until then, and forever where its outcome is unknown. */
  answered: number
  requestId: string
}

/** A question that a gateway has decided. */
export interface Read {
  readonly place: string
  readonly began: number
  readonly ended: number
  /** `allow`, or the code of the refusal. */
  readonly answer: string
  readonly requestId: string
}

/**
 * `stale`: decided on the state before the write. `grant_lost`: refused, although granted, with an answer that no earlier
 * state explains. `unexpected`: allowed, although no state so far has granted it.
 */
export type ViolationKind = 'stale' | 'grant_lost' | 'unexpected'

export interface Violation {
  readonly kind: ViolationKind
  /** The name of the credential. */
  readonly subject: string
  readonly read: Read
  /** The newest write that was answered before the read began. */
  readonly write: Write
  /** The answers that the state of this write and later ones allow. */
  readonly expected: readonly string[]
}

export const ALLOW = 'allow'

interface State {
  readonly write: Write
  readonly answers: readonly string[]
}

/** A credential whose answers are known, with its states over time. */
export class Subject<C> {
  readonly name: string
  readonly credential: C
  readonly #states: State[]

  /** @param write that made the credential, and has been answered @param answers to it from then on */
  constructor(name: string, credential: C, write: Write, answers: readonly string[]) {
    this.name = name
    this.credential = credential
    this.#states = [{ write, answers }]
  }

  /** The answers once every write so far has been applied. */
  get answers(): readonly string[] {
    return this.#last.answers
  }

  get #last(): State {
    const last = this.#states.at(-1)
    if (last === undefined) throw new Error(`${this.name} has no state`)
    return last
  }

  /**
   * A write changes the answers. It comes before the request is sent, as a read may be decided on it from then on.
   *
   * @throws Error after a write without a 2xx: that one may still be applied at any later time
   */
  begin(write: Write, answers: readonly string[]): void {
    if (this.#last.write.answered === Infinity) throw new Error(`${this.name}: a write is under way`)
    this.#states.push({ write, answers })
  }

  /** The gateway has refused the write: it changed nothing. */
  withdraw(write: Write): void {
    if (this.#last.write === write && this.#states.length > 1) this.#states.pop()
  }

  /** Every write that began before the end of the read must be known. @returns null: the answer is right */
  judge(read: Read): Violation | null {
    const since = Math.max(
      0,
      this.#states.findLastIndex(({ write }) => write.answered < read.began),
    )
    const possible = this.#states.slice(since).filter(({ write }) => write.began <= read.ended)
    const expected = [...new Set(possible.flatMap(({ answers }) => answers))]
    if (expected.includes(read.answer)) return null
    const [newest] = possible
    if (newest === undefined) return null
    const earlier = this.#states.slice(0, since).some(({ answers }) => answers.includes(read.answer))
    const kind = earlier ? 'stale' : read.answer === ALLOW ? 'unexpected' : 'grant_lost'
    return { kind, subject: this.name, read, write: newest.write, expected }
  }

  /**
   * The write that the read tests: a gateway that decided on the state before it would have given another answer, and no later
   * write allows that one.
   *
   * @returns null: it tests none
   */
  testedBy({ began, ended }: Read): Write | null {
    const at = this.#states.findLastIndex(({ write }) => write.answered < began)
    const [before, state, next] = [this.#states[at - 1], this.#states[at], this.#states[at + 1]]
    if (state === undefined || (next !== undefined && next.write.began <= ended)) return null
    return before?.answers.join() === state.answers.join() ? null : state.write
  }

  /**
   * The write that the read shows: its answer is that of the newest state, and not that of the state before.
   *
   * @returns null: the read tells nothing about the newest write
   */
  shownBy({ answer, ended }: Read): Write | null {
    const at = this.#states.findLastIndex(({ write }) => write.began <= ended)
    const [before, newest] = [this.#states[at - 1], this.#states[at]]
    if (before === undefined || newest === undefined) return null
    return newest.answers.includes(answer) && !before.answers.includes(answer) ? newest.write : null
  }
}

/** By the nearest rank. Null without a value. */
export function distributionOf(values: readonly number[]) {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}

export type Distribution = ReturnType<typeof distributionOf>

/** The longest time without the beginning of a decided read: a stale state could come and go in it unseen. */
export class Coverage {
  #last: number
  #longest = 0

  /** @param from when reads could first be sent */
  constructor(from: number) {
    this.#last = from
  }

  /** Decided reads, in the order in which they ended. */
  read({ began }: Pick<Read, 'began'>): void {
    if (began <= this.#last) return
    this.#longest = Math.max(this.#longest, began - this.#last)
    this.#last = began
  }

  /** @param end of the run so far */
  longest(end: number): number {
    return Math.max(this.#longest, end - this.#last)
  }
}
