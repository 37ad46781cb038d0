/** Work under way. After a reload it completes with the former configuration. */
export class PendingWork {
  readonly #pending = new Set<Promise<unknown>>()

  /** The same work, which {@link ended} waits for. */
  track<T>(work: Promise<T>): Promise<T> {
    // The caller handles a rejection; here only completion matters.
    const settled = work.catch(() => {}).then(() => void this.#pending.delete(settled))
    this.#pending.add(settled)
    return work
  }

  /** Resolves once no work is under way. */
  async ended(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
  }
}
