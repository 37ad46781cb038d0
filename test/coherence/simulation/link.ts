/** A machine's link to the store or to Redis. While it is cut, what is under way is lost, or comes when it is whole again. */

import type { Nature } from './nature.ts'
import type { Owner } from './timeline.ts'

export class Link {
  readonly #nature: Nature
  #cut = false
  #waiting: { readonly owner: Owner | null; readonly run: () => void }[] = []

  constructor(nature: Nature) {
    this.#nature = nature
  }

  get isCut(): boolean {
    return this.#cut
  }

  cut(): void {
    this.#cut = true
  }

  mend(): void {
    this.#cut = false
    const { timeline, random } = this.#nature
    const waiting = this.#waiting
    this.#waiting = []
    for (const { owner, run } of waiting) timeline.after(random.between(0, 20), owner, run)
  }

  /** @param owner who meets it at the other end */
  carry(delay: number, owner: Owner | null, run: () => void): void {
    this.#nature.timeline.after(delay, owner, () => {
      if (!this.#cut) run()
      else if (this.#nature.random.chance(0.5)) this.#waiting.push({ owner, run })
    })
  }
}
