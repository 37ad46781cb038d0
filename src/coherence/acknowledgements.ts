/** Whom a writer waits for: its own deciders, and the instances that were on the list after its commit. */

import type { ListedInstance } from './feeds.ts'

export class AcknowledgementBarrier {
  readonly #seq: number
  readonly #done: () => void
  #ownHaveForgotten = false
  /** Instance → its beat when the list was read first; null before that. */
  #missing: Map<string, number> | null = null
  /** Those who have acknowledged, on the list or not. */
  readonly #heardFrom = new Set<string>()

  /** @param done called when nobody is missing */
  constructor(seq: number, done: () => void) {
    this.#seq = seq
    this.#done = done
  }

  /** Instance → its beat after the commit. */
  get missing(): ReadonlyMap<string, number> {
    return this.#missing ?? new Map()
  }

  ownHaveForgotten(): void {
    this.#ownHaveForgotten = true
    this.#check()
  }

  /** False if it had done so before. */
  acknowledged(id: string): boolean {
    if (this.#heardFrom.has(id)) return false
    this.#heardFrom.add(id)
    this.#check()
    return true
  }

  /** Who came onto the list after the first look registered after the commit, and needs no telling. */
  listed(others: readonly ListedInstance[]): void {
    const listed = new Map(others.map((each) => [each.id, each]))
    this.#missing ??= new Map(others.map(({ id, beat }) => [id, beat]))
    for (const id of this.#missing.keys()) {
      const now = listed.get(id)
      if (now === undefined || now.applied >= this.#seq) this.#missing.delete(id)
    }
    this.#check()
  }

  #check(): void {
    if (this.#missing === null || !this.#ownHaveForgotten) return
    for (const id of this.#heardFrom) this.#missing.delete(id)
    if (this.#missing.size === 0) this.#done()
  }
}
