/** Pseudo-random numbers that are the same in every run, for the mixed workload. */

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** At least 0 and below 1: the mulberry32 generator. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** At least 0 and below the limit. */
  integer(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  of<T>(list: readonly T[]): T {
    const item = list[this.integer(list.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  hex(digits: number): string {
    let text = ''
    while (text.length < digits)
      text += this.integer(16 ** 8)
        .toString(16)
        .padStart(8, '0')
    return text.slice(0, digits)
  }

  /** Log-uniform between the least and the most. */
  size(least: number, most: number): number {
    return Math.round(least * (most / least) ** this.next())
  }
}

/** Items of a list by Zipf's law: item n has the weight 1 / n. */
export class Zipf<T> {
  readonly #items: readonly T[]
  readonly #sums: readonly number[]

  constructor(items: readonly T[]) {
    let sum = 0
    this.#items = items
    this.#sums = items.map((_, place) => (sum += 1 / (place + 1)))
  }

  pick(random: Random): T {
    const at = random.next() * (this.#sums.at(-1) ?? 0)
    const item = this.#items[this.#sums.findIndex((sum) => at < sum)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
}
