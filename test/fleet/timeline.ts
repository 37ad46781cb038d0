/**
 * The states of one subject over time, which decide whether an answer is stale. The checker looks up each answer of a
 * gateway; all times are of one process's monotonic clock.
 *
 * A request that starts after a write was acknowledged must be decided on the state of that write or a newer one. So an
 * answer is stale if no state explains it that was current at some time between the last write acknowledged before the
 * start of the request and its end.
 */

/** A write, and the answer of its subject from then on. */
interface State {
  readonly answer: string
  readonly sent: number
  /** Infinity until the write is acknowledged, and forever if its outcome is unknown. */
  answered: number
}

export class Timeline {
  readonly name: string
  readonly #states: State[]

  /** @param answer the answer before the first write */
  constructor(name: string, answer: string) {
    this.name = name
    this.#states = [{ answer, sent: Number.NEGATIVE_INFINITY, answered: Number.NEGATIVE_INFINITY }]
  }

  /** The answer once all writes sent have been applied. */
  get last(): string {
    return this.#states.at(-1)?.answer ?? ''
  }

  /** Records a sent write; the result records its acknowledgement. One at a time, none after one without a response. */
  write(answer: string, sent: number): (answered: number) => void {
    const state: State = { answer, sent, answered: Number.POSITIVE_INFINITY }
    if (this.#states.at(-1)?.answered === Number.POSITIVE_INFINITY)
      throw new Error(`${this.name}: a write is under way`)
    this.#states.push(state)
    return (answered) => {
      state.answered = answered
    }
  }

  /** The valid answers to a request. */
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
