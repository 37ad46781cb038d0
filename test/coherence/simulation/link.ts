/** A machine's link to the store or to Redis. A message in flight on a cut link is lost, or arrives after the link is restored. */

import type { Context } from './context.ts'
import type { Owner } from './timeline.ts'

export class Link {
  readonly #context: Context
  #cut = false
  #waiting: { readonly owner: Owner | null; readonly run: () => void }[] = []

  constructor(context: Context) {
    this.#context = context
  }

  get isCut(): boolean {
    return this.#cut
  }

  cut(): void {
    this.#cut = true
  }

  restore(): void {
    this.#cut = false
    const { timeline, random } = this.#context
    const waiting = this.#waiting
    this.#waiting = []
    for (const { owner, run } of waiting) timeline.after(random.between(0, 20), owner, run)
  }

  /** @param owner the receiving process */
  carry(delay: number, owner: Owner | null, run: () => void): void {
    this.#context.timeline.after(delay, owner, () => {
      if (!this.#cut) run()
      else if (this.#context.random.chance(0.5)) this.#waiting.push({ owner, run })
    })
  }
}
