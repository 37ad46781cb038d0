/**
 * The health of the store as observed by the calls of this process, by kind of work. Only faults of the store
 * count, such as a corrupt page or a full disk, not errors that a caller's value causes.
 */

import { setTimeout } from 'node:timers/promises'
import { type StoreFault, StoreUnavailable } from './unavailable.ts'

/** `reads`: point reads of decisions. `lists`: reads of administration. */
export type Work = 'reads' | 'lists' | 'writes'

/** The fault of each kind of work; null: none is known. */
export type HealthState = Readonly<Record<Work, StoreFault | null>>

/** Milliseconds between retries of failed calls. */
const RETRY_INTERVAL = 500
/** Failed calls that are retried, of each kind. Further failures are ignored. */
const MAX_SUSPECTS = 8

/** A write that stores nothing succeeds in spite of other faults, such as a full disk. */
const FAULTS_OF_REACHING: ReadonlySet<StoreFault> = new Set([
  'locked',
  'timeout',
  'overloaded',
  'unreachable',
])

interface Suspect {
  readonly call: () => Promise<unknown>
  /** The fault of the call; null until it has failed a second time. */
  fault: StoreFault | null
}

export class Health {
  readonly #suspects: Record<'reads' | 'lists', Suspect[]> = { reads: [], lists: [] }
  readonly #retrying = { reads: false, lists: false }
  #writes: StoreFault | null = null
  #lastNotified = ''
  #listener: (state: HealthState) => void = () => {}
  readonly #closed = new AbortController()
  readonly #pause: (signal: AbortSignal) => Promise<void>

  /** @param pause resolves when failed calls are retried, or once the signal is aborted */
  constructor(pause = retryInterval) {
    this.#pause = pause
  }

  get state(): HealthState {
    return {
      reads: faultOf(this.#suspects.reads),
      lists: faultOf(this.#suspects.lists),
      writes: this.#writes,
    }
  }

  /** The listener is called now and at each change. */
  listen(listener: (state: HealthState) => void): void {
    this.#listener = listener
    this.#lastNotified = JSON.stringify(this.state)
    listener(this.state)
  }

  /**
   * Resolves or rejects as `call` does.
   *
   * @param hasStored whether the write has changed what is stored
   */
  observe<V>(work: Work, call: () => Promise<V>, hasStored: (value: V) => boolean = () => true): Promise<V> {
    const result = call()
    result.then(
      (value) => this.#succeeded(work, hasStored(value)),
      (cause: unknown) => this.#failed(work, call, storeFaultOf(cause)),
    )
    return result
  }

  /** Stops all retries. */
  close(): void {
    this.#closed.abort()
  }

  /** A successful read says nothing about other pages. */
  #succeeded(work: Work, hasStored: boolean): void {
    if (work !== 'writes' || this.#writes === null) return
    if (hasStored || FAULTS_OF_REACHING.has(this.#writes)) this.#setWrites(null)
  }

  #failed(work: Work, call: () => Promise<unknown>, fault: StoreFault | null): void {
    if (fault === null || this.#closed.signal.aborted) return
    if (work === 'writes') return this.#setWrites(fault)
    const suspects = this.#suspects[work]
    if (suspects.length >= MAX_SUSPECTS) return
    suspects.push({ call, fault: null })
    if (!this.#retrying[work]) void this.#retry(work)
  }

  #setWrites(fault: StoreFault | null): void {
    this.#writes = fault
    this.#notify()
  }

  /** Retries at once, then periodically until no call fails. */
  async #retry(work: 'reads' | 'lists'): Promise<void> {
    this.#retrying[work] = true
    while (!this.#closed.signal.aborted && this.#suspects[work].length > 0) {
      const retried = [...this.#suspects[work]]
      const failed = await Promise.all(retried.map(fails))
      const later = this.#suspects[work].slice(retried.length)
      this.#suspects[work] = [...retried.filter((_, at) => failed[at]), ...later]
      this.#notify()
      if (this.#suspects[work].length > 0) await this.#pause(this.#closed.signal)
    }
    this.#retrying[work] = false
  }

  #notify(): void {
    const now = JSON.stringify(this.state)
    if (now === this.#lastNotified) return
    this.#lastNotified = now
    this.#listener(this.state)
  }
}

/** Does not keep a process alive that has not closed the store. */
async function retryInterval(signal: AbortSignal): Promise<void> {
  await setTimeout(RETRY_INTERVAL, undefined, { signal, ref: false }).catch(() => {})
}

async function fails(suspect: Suspect): Promise<boolean> {
  try {
    await suspect.call()
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
