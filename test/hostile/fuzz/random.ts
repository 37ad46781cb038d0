/** Pseudo-random numbers from a seed (sfc32), so that a failing case can be repeated. */

export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, stream = 0) {
    this.#a = seed >>> 0
    this.#b = stream >>> 0
    this.#c = 0x9e3779b9
    for (let i = 0; i < 12; i++) this.#next()
  }

  /** 0 ≤ n < below */
  below(below: number): number {
    return this.#next() % below
  }

  /** True once in `times` on average. */
  once(times: number): boolean {
    return this.below(times) === 0
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}
