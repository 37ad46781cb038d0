/** What the mixed workload draws by pseudo-random numbers, which are the same in every run. */

import type { Random } from '../../test/support/random.ts'

export function hexOf(random: Random, digits: number): string {
  return Array.from({ length: digits }, () => random.below(16).toString(16)).join('')
}

/** Log-uniform between the least and the most. */
export function sizeOf(random: Random, least: number, most: number): number {
  return Math.round(least * (most / least) ** random.next())
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
