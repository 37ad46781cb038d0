/**
 * What is made of something that may come again: once. Used with header sections, credentials, and the heads of answers.
 * Some of it remembers what came last: it compares all that it depends on at each use.
 */

/** Never changes, but for what is in `made`. */
export interface MayComeAgain {
  /** What was made of it, by maker; null: it has come once only. */
  readonly made: unknown[] | null
}

/** Makers there are. */
let makers = 0

/** By one and the same rule. */
export class MadeOf<From extends MayComeAgain, V> {
  readonly #make: (from: From) => V
  readonly #place = makers++

  /** @param make depends on what it is given alone; what it gives is shared by all that say the same */
  constructor(make: (from: From) => V) {
    this.#make = make
  }

  of(from: From): V {
    const { made } = from
    if (made === null) return this.#make(from)
    return (made[this.#place] ??= this.#make(from)) as V
  }
}
