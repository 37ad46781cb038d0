/** The readers of a run: each asks one place repeatedly, and immediately after each 2xx of a write. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadResult } from './place-client.ts'
import type { RunRecord } from './run-record.ts'
import type { Subject } from './staleness.ts'

/** The time in ms between the beginnings of two reads of one reader: 20 reads a second. */
const EVERY = 50

/** An address that is read. */
export interface ReadPlace<C> {
  readonly name: string
  ask(credential: C): Promise<ReadResult>
}

/** The credentials that are read, and the event that wakes all readers. */
export class Subjects<C> {
  readonly #all: Subject<C>[] = []
  /** The subjects that the last write changed. */
  #changed: readonly Subject<C>[] = []
  #wakes = new AbortController()

  get all(): readonly Subject<C>[] {
    return this.#all
  }

  /** A signal that is aborted when the readers are next woken. */
  get woken(): AbortSignal {
    return this.#wakes.signal
  }

  add(subject: Subject<C>): void {
    this.#all.push(subject)
  }

  /** Removes subjects, which are no longer read. */
  remove(subjects: Iterable<Subject<C>>): void {
    const gone = new Set(subjects)
    const kept = this.#all.filter((subject) => !gone.has(subject))
    this.#all.splice(0, this.#all.length, ...kept)
    this.#changed = this.#changed.filter((subject) => !gone.has(subject))
  }

  /** Wakes the readers after a write: each reads at once, first the subjects that the write changed. */
  wake(changed: readonly Subject<C>[]): void {
    this.#changed = changed
    this.#wakes.abort()
    this.#wakes = new AbortController()
  }

  /**
   * The next subject, every second time of the last change.
   *
   * @param turn the number of the read at its place
   */
  next(turn: number): Subject<C> | null {
    const from = turn % 2 === 0 && this.#changed.length > 0 ? this.#changed : this.#all
    return from[Math.floor(turn / 2) % from.length] ?? null
  }

  /** Resolves after this time, or as soon as the readers are woken. */
  pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.woken }).catch(() => {})
  }
}

/** Reads until the signal; ends when nothing is in flight. @param count the readers at each place */
export async function readAll<C>(
  places: readonly ReadPlace<C>[],
  subjects: Subjects<C>,
  record: RunRecord,
  { count, signal }: { readonly count: number; readonly signal: AbortSignal },
): Promise<void> {
  const end = () => subjects.wake([])
  signal.addEventListener('abort', end, { once: true })
  const each = (place: ReadPlace<C>) => {
    // Each place has its own turns: with a common number, places in step would read the same few subjects
    // again and again.
    let turn = 0
    const next = () => subjects.next(turn++)
    return Array.from({ length: count }, (_, at) => reader(place, next, at))
  }
  const reader = async (place: ReadPlace<C>, next: () => Subject<C> | null, at: number) => {
    await subjects.pause((at * EVERY) / count)
    while (!signal.aborted) await readOnce(place, next, subjects, record)
  }
  await Promise.all(places.flatMap(each))
}

async function readOnce<C>(
  place: ReadPlace<C>,
  next: () => Subject<C> | null,
  subjects: Subjects<C>,
  record: RunRecord,
): Promise<void> {
  const subject = next()
  if (subject === null) return subjects.pause(EVERY)
  const { woken } = subjects
  const began = performance.now()
  const result = await place.ask(subject.credential)
  const ended = performance.now()
  // The cycle may have been given up during the read, after a write of unknown result.
  if (subjects.all.includes(subject)) {
    if (result.answer === null) record.undecided(place.name, result.reason)
    else record.read(subject, { ...result, place: place.name, began, ended })
  }
  // A write was answered during the read: the next read begins at once.
  if (!woken.aborted) await subjects.pause(Math.max(0, EVERY - (ended - began)))
}
