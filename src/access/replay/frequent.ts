/**
 * The most frequent of any number of texts, in bounded memory: the Space-Saving algorithm (Metwally, Agrawal, El Abbadi:
 * Efficient Computation of Frequent and Top-k Elements in Data Streams, 2005).
 */

/** Counted texts. Any text that is more than one in so many of all is among them. */
const COUNTERS = 64

export class FrequentTexts {
  readonly #counts = new Map<string, number>()
  #isExact = true

  /** False: there were more texts than counters. A count may then be too high, but not too low. */
  get isExact(): boolean {
    return this.#isExact
  }

  add(text: string): void {
    const count = this.#counts.get(text)
    if (count !== undefined) this.#counts.set(text, count + 1)
    else if (this.#counts.size < COUNTERS) this.#counts.set(text, 1)
    else this.#replaceRarest(text)
  }

  /** The new text takes the count of the rarest: it may have come as often, and was replaced since. */
  #replaceRarest(text: string): void {
    let [rarest, least] = ['', Infinity]
    for (const [each, count] of this.#counts) if (count < least) [rarest, least] = [each, count]
    this.#counts.delete(rarest)
    this.#counts.set(text, least + 1)
    this.#isExact = false
  }

  /** By descending count. */
  top(most: number): [text: string, count: number][] {
    return [...this.#counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1)).slice(0, most)
  }
}
