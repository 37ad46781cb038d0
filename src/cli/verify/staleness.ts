/**
 * What the gateways may answer to each credential of a run, and which answers break the promise: nothing
 * stale after a 2xx. Pure. All times are milliseconds of one process's monotonic clock, so that no clock of
 * another machine matters.
 *
 * A read that began after the 2xx of a write must be decided on the state of that write, or on a later one. A
 * read that overlaps a write may be decided on the state before it or after it.
 */

/** A change that a gateway was asked to make. */
export interface Write {
  readonly operation: string
  /** The address to which it was sent. */
  readonly place: string
  readonly began: number
  /** The time of its 2xx; Infinity until then, and forever if its result is unknown. */
  answered: number
  requestId: string
}

/** A question that a gateway has decided. */
export interface Read {
  readonly place: string
  readonly began: number
  readonly ended: number
  /** The answer: `allow`, or the code of the refusal. */
  readonly answer: string
  readonly requestId: string
}

/**
 * The kinds of violations. `stale`: decided on the state before the write. `grant_lost`: refused although
 * granted, with an answer that no earlier state explains. `unexpected`: allowed although no state so far has
 * granted it.
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

/** A credential with its possible answers over time. */
export class Subject<C> {
  readonly name: string
  readonly credential: C
  readonly #states: State[]

  /**
   * Makes a subject.
   *
   * @param write the write that made the credential, and has a 2xx
   * @param answers the possible answers from then on
   */
  constructor(name: string, credential: C, write: Write, answers: readonly string[]) {
    this.name = name
    this.credential = credential
    this.#states = [{ write, answers }]
  }

  /** The answers after all writes so far. */
  get answers(): readonly string[] {
    return this.#last.answers
  }

  get #last(): State {
    const last = this.#states.at(-1)
    if (last === undefined) throw new Error(`${this.name} has no state`)
    return last
  }

  /**
   * Begins a write that changes the answers. It must be called before the request is sent, as a read may be
   * decided on the new state from then on.
   *
   * @throws Error after a write without a 2xx: that one may still take effect at any later time
   */
  begin(write: Write, answers: readonly string[]): void {
    if (this.#last.write.answered === Infinity) throw new Error(`${this.name}: a write is under way`)
    this.#states.push({ write, answers })
  }

  /** Withdraws a write that the gateway has refused: it changed nothing. */
  withdraw(write: Write): void {
    if (this.#last.write === write && this.#states.length > 1) this.#states.pop()
  }

  /** Judges a read; all writes that began before its end must be known. @returns null if it is right */
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
   * The write that the read tests: a gateway that decided on the state before it would have given another
   * answer, and no later write allows that answer.
   *
   * @returns null if it tests none
   */
  testedBy({ began, ended }: Read): Write | null {
    const at = this.#states.findLastIndex(({ write }) => write.answered < began)
    const [before, state, next] = [this.#states[at - 1], this.#states[at], this.#states[at + 1]]
    if (state === undefined || (next !== undefined && next.write.began <= ended)) return null
    return before?.answers.join() === state.answers.join() ? null : state.write
  }

  /**
   * The write that the read shows: the newest state gives its answer, and the state before does not.
   *
   * @returns null if the read tells nothing about the newest write
   */
  shownBy({ answer, ended }: Read): Write | null {
    const at = this.#states.findLastIndex(({ write }) => write.began <= ended)
    const [before, newest] = [this.#states[at - 1], this.#states[at]]
    if (before === undefined || newest === undefined) return null
    return newest.answers.includes(answer) && !before.answers.includes(answer) ? newest.write : null
  }
}

/** The distribution of values, by the nearest rank; null if there is no value. */
export function distributionOf(values: readonly number[]) {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}

export type Distribution = ReturnType<typeof distributionOf>

/** The longest time in which no decided read began: a stale state could come and go in it unseen. */
export class Coverage {
  #last: number
  #longest = 0

  /** Starts the measurement. @param from the time when reads can first be sent */
  constructor(from: number) {
    this.#last = from
  }

  /** Counts a decided read; reads come in the order in which they ended. */
  read({ began }: Pick<Read, 'began'>): void {
    if (began <= this.#last) return
    this.#longest = Math.max(this.#longest, began - this.#last)
    this.#last = began
  }

  /** The longest time. @param end the end of the run so far */
  longest(end: number): number {
    return Math.max(this.#longest, end - this.#last)
  }
}
