/**
 * What calls of this process find of the store, by kind of work. A fault counts only if it says something about the
 * store: a caller can bring about a refused value, but neither a ruined page nor a full disk.
 */

import { type StoreFault, StoreUnavailable } from './unavailable.ts'

/** `reads`: what decisions rest on. `lists`: what administration reads. */
export type Work = 'reads' | 'lists' | 'writes'

/** Null: nothing is known against it. */
export type HealthState = Readonly<Record<Work, StoreFault | null>>

/** Milliseconds between two tries of what failed. */
const RETRY_EVERY = 500
/** Calls that are tried again, of each kind; what fails beside them changes nothing. */
const MAX_SUSPECTS = 8

interface Suspect {
  readonly ask: () => Promise<unknown>
  /** Null before it has failed a second time. */
  fault: StoreFault | null
}

export class Health {
  readonly #suspects: Record<'reads' | 'lists', Suspect[]> = { reads: [], lists: [] }
  readonly #rounds = { reads: false, lists: false }
  #writes: StoreFault | null = null
  #told = ''
  #listener: (state: HealthState) => void = () => {}
  #timers = new Set<NodeJS.Timeout>()
  #closed = false

  get state(): HealthState {
    return {
      reads: faultOf(this.#suspects.reads),
      lists: faultOf(this.#suspects.lists),
      writes: this.#writes,
    }
  }

  /** Told now and at each change. */
  listen(listener: (state: HealthState) => void): void {
    this.#listener = listener
    this.#told = JSON.stringify(this.state)
    listener(this.state)
  }

  /** Resolves or rejects as `ask` does. */
  watch<V>(work: Work, ask: () => Promise<V>): Promise<V> {
    const answer = ask()
    answer.then(
      () => this.#succeeded(work),
      (cause: unknown) => this.#failed(work, ask, storeFaultOf(cause)),
    )
    return answer
  }

  /** Nothing is tried again any more. */
  close(): void {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  /** A read that succeeds says nothing about the pages that another one needs; a write that does is the newest word. */
  #succeeded(work: Work): void {
    if (work === 'writes' && this.#writes !== null) this.#wrote(null)
  }

  #failed(work: Work, ask: () => Promise<unknown>, fault: StoreFault | null): void {
    if (fault === null || this.#closed) return
    if (work === 'writes') return this.#wrote(fault)
    const suspects = this.#suspects[work]
    if (suspects.length >= MAX_SUSPECTS) return
    suspects.push({ ask, fault: null })
    if (!this.#rounds[work]) void this.#tryAgain(work)
  }

  #wrote(fault: StoreFault | null): void {
    this.#writes = fault
    this.#tell()
  }

  /** At once, and then until nothing is left that fails. */
  async #tryAgain(work: 'reads' | 'lists'): Promise<void> {
    this.#rounds[work] = true
    while (!this.#closed && this.#suspects[work].length > 0) {
      const tried = [...this.#suspects[work]]
      const failed = await Promise.all(tried.map(fails))
      const later = this.#suspects[work].slice(tried.length)
      this.#suspects[work] = [...tried.filter((_, at) => failed[at]), ...later]
      this.#tell()
      if (this.#suspects[work].length > 0) await this.#pause()
    }
    this.#rounds[work] = false
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        resolve()
      }, RETRY_EVERY)
      // A process that forgot to close the store may end.
      timer.unref()
      this.#timers.add(timer)
    })
  }

  #tell(): void {
    const now = JSON.stringify(this.state)
    if (now === this.#told) return
    this.#told = now
    this.#listener(this.state)
  }
}

async function fails(suspect: Suspect): Promise<boolean> {
  try {
    await suspect.ask()
    suspect.fault = null
  } catch (cause) {
    suspect.fault = storeFaultOf(cause)
  }
  return suspect.fault !== null
}

function faultOf(suspects: readonly Suspect[]): StoreFault | null {
  return suspects.find(({ fault }) => fault !== null)?.fault ?? null
}

function storeFaultOf(cause: unknown): StoreFault | null {
  return cause instanceof StoreUnavailable ? cause.fault : null
}
