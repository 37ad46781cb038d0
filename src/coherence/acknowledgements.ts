/**
 * The acknowledgements that one write waits for: those of its own deciders, and of the instances listed after
 * its commit. `instance.ts` announces the write, waits, and gives up after a time; `lease.ts` describes the
 * protocol.
 */

import type { ReachableInstance } from '../../seats-admin/model/registered-instance.ts'

export class AcknowledgementBarrier {
  readonly #seq: number
  readonly #done: () => void
  #hasLocalApplied = false
  /** Instance → its beat when the list was first read; null before that. */
  #missing: Map<string, number> | null = null
  /** Instances that have acknowledged, listed or not. */
  readonly #acknowledgedBy = new Set<string>()

  /**
   * @param seq the number of the last change of the write
   * @param done called once no acknowledgement is missing
   */
  constructor(seq: number, done: () => void) {
    this.#seq = seq
    this.#done = done
  }

  /** Instance → its beat when the list was first read. */
  get missing(): ReadonlyMap<string, number> {
    return this.#missing ?? new Map()
  }

  localApplied(): void {
    this.#hasLocalApplied = true
    this.#check()
  }

  /** @returns false for a repeated acknowledgement */
  acknowledged(id: string): boolean {
    if (this.#acknowledgedBy.has(id)) return false
    this.#acknowledgedBy.add(id)
    this.#check()
    return true
  }

  /**
   * An instance that only a later list has registered after the commit, so it has read the change already.
   */
  listed(others: readonly ReachableInstance[]): void {
    const listed = new Map(others.map((each) => [each.id, each]))
    this.#missing ??= new Map(others.map(({ id, beat }) => [id, beat]))
    for (const id of this.#missing.keys()) {
      const now = listed.get(id)
      if (now === undefined || now.applied >= this.#seq) this.#missing.delete(id)
    }
    this.#check()
  }

  #check(): void {
    if (this.#missing === null || !this.#hasLocalApplied) return
    for (const id of this.#acknowledgedBy) this.#missing.delete(id)
    if (this.#missing.size === 0) this.#done()
  }
}
