/** The ids that a peer has skipped. Using one later is a connection error (RFC 9113, section 5.1.1). */

/** Gaps that are remembered. Peers use each id in turn. */
const MAX_GAPS = 100

export class StreamGaps {
  /** Oldest first: the ids of the streams around them. */
  readonly #all: (readonly [after: number, before: number])[] = []

  /**
   * @param after the newest stream so far
   * @param id of the next one, which is greater
   */
  opened(after: number, id: number): void {
    if (id <= after + 2) return
    this.#all.push([after, id])
    if (this.#all.length > MAX_GAPS) this.#all.shift()
  }

  has(id: number): boolean {
    return this.#all.some(([after, before]) => id > after && id < before)
  }
}
