/** Pseudo-random numbers from a seed, so that a failing case can be repeated. */

export class Random {
  #state: number

  /** @param stream selects independent numbers of the same seed, such as those of one case */
  constructor(seed: number, stream = 0) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream, 0xc2b2ae35)
  }

  /** A number of at least 0 and below 1, by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let x = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.next()
  }

  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** True once in `times` on average. */
  once(times: number): boolean {
    return this.below(times) === 0
  }

  pick<V>(list: readonly V[]): V {
    const picked = list[this.below(list.length)]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }
}
