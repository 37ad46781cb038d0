/** How far a sequence of numbers is complete, where numbers arrive in any order and more than once. */

/** Numbers kept beyond the first gap. Further ones are forgotten: `completeUpTo` makes up for them. */
const MAX_AHEAD = 10_000

export class ConsecutiveNumbers {
  #end = 0
  /** Beyond the first gap. */
  readonly #ahead = new Set<number>()

  /** Each number up to this one has arrived. */
  get end(): number {
    return this.#end
  }

  add(number: number): void {
    if (number > this.#end + 1 && this.#ahead.size < MAX_AHEAD) this.#ahead.add(number)
    if (number === this.#end + 1) this.completeUpTo(number)
  }

  /** Each number up to this one has arrived. */
  completeUpTo(end: number): void {
    if (end <= this.#end) return
    for (const number of this.#ahead) if (number <= end) this.#ahead.delete(number)
    this.#end = end
    while (this.#ahead.delete(this.#end + 1)) this.#end++
  }

  /** Another sequence begins. Each of its numbers up to this one has arrived. */
  restart(end: number): void {
    this.#ahead.clear()
    this.#end = end
  }
}
