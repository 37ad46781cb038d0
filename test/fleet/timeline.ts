/**
 * The judge of one answer: what a caller may be told at a time, given the writes that were sent and answered by then.
 * Asked by the checker for each answer of a gateway; all times are of one process's monotonic clock.
 *
 * A request that starts after a write was answered must be decided on what that write left or on something newer. So an
 * answer is stale if none of the states explains it that were current at some time from the last write answered before
 * the request's start until its end.
 */

/** A write, and what its subject is answered from then on. */
interface State {
  readonly answer: string
  readonly sent: number
  /** Infinite while it is not answered, and for good where nobody knows what became of it. */
  answered: number
}

export class Timeline {
  readonly name: string
  readonly #states: State[]

  /** @param answer what is answered before the first write */
  constructor(name: string, answer: string) {
    this.name = name
    this.#states = [{ answer, sent: Number.NEGATIVE_INFINITY, answered: Number.NEGATIVE_INFINITY }]
  }

  /** What is answered once all is written that was sent. */
  get last(): string {
    return this.#states.at(-1)?.answer ?? ''
  }

  /** A write is sent; the result tells that it has been answered. One at a time, none after one without an answer. */
  write(answer: string, sent: number): (answered: number) => void {
    const state: State = { answer, sent, answered: Number.POSITIVE_INFINITY }
    if (this.#states.at(-1)?.answered === Number.POSITIVE_INFINITY)
      throw new Error(`${this.name}: a write is under way`)
    this.#states.push(state)
    return (answered) => {
      state.answered = answered
    }
  }

  /** What may be answered to a request. */
  allowed(start: number, end: number): Set<string> {
    const since = this.#states.findLastIndex(({ answered }) => answered < start)
    return new Set(
      this.#states
        .slice(since)
        .filter(({ sent }) => sent <= end)
        .map(({ answer }) => answer),
    )
  }

  /** The newest writes, for a message. */
  describe(): string {
    const shown = this.#states.slice(-4).map(({ answer, sent, answered }) => {
      return `${answer} [${sent.toFixed(2)}, ${answered.toFixed(2)}]`
    })
    return `${this.name}: ${shown.join(' ')}`
  }
}
