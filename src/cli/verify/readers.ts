/** The readers of a run: each asks one place, over and over, and at once after each 2xx of a write. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadResult } from './asked-place.ts'
import type { RunRecord } from './run-record.ts'
import type { Subject } from './staleness.ts'

/** ms between the beginnings of two reads of one reader: 20 a second, whatever the duration. */
const EVERY = 50

/** Where reads are sent. */
export interface ReadPlace<C> {
  readonly name: string
  ask(credential: C): Promise<ReadResult>
}

/** The credentials that are asked about, and what all readers wait for. */
export class Subjects<C> {
  readonly #all: Subject<C>[] = []
  /** Those that the last write changed. */
  #changed: readonly Subject<C>[] = []
  #wakes = new AbortController()

  get all(): readonly Subject<C>[] {
    return this.#all
  }

  /** Aborted when the readers are woken next. */
  get woken(): AbortSignal {
    return this.#wakes.signal
  }

  add(subject: Subject<C>): void {
    this.#all.push(subject)
  }

  /** They are no longer asked about. */
  remove(subjects: Iterable<Subject<C>>): void {
    const gone = new Set(subjects)
    const kept = this.#all.filter((subject) => !gone.has(subject))
    this.#all.splice(0, this.#all.length, ...kept)
    this.#changed = this.#changed.filter((subject) => !gone.has(subject))
  }

  /** A write was answered: each reader asks at once, about the subjects that it changed first. */
  wake(changed: readonly Subject<C>[]): void {
    this.#changed = changed
    this.#wakes.abort()
    this.#wakes = new AbortController()
  }

  /** Every second read is about what was changed last. @param turn number of the read at its place */
  next(turn: number): Subject<C> | null {
    const from = turn % 2 === 0 && this.#changed.length > 0 ? this.#changed : this.#all
    return from[Math.floor(turn / 2) % from.length] ?? null
  }

  /** Resolves after this time, or as soon as the readers are woken. */
  pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.woken }).catch(() => {})
  }
}

/** Reads until the signal; resolves when no read is in flight. @param count readers of each place */
export async function readAll<C>(
  places: readonly ReadPlace<C>[],
  subjects: Subjects<C>,
  record: RunRecord,
  { count, signal }: { readonly count: number; readonly signal: AbortSignal },
): Promise<void> {
  const end = () => subjects.wake([])
  signal.addEventListener('abort', end, { once: true })
  const each = (place: ReadPlace<C>) => {
    // Of its own: places that took turns from one number, in step, would each ask about the same few subjects again and again.
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
  // The cycle may have been given up meanwhile, after a write whose outcome is unknown.
  if (subjects.all.includes(subject)) {
    if (result.answer === null) record.undecided(place.name, result.reason)
    else record.read(subject, { ...result, place: place.name, began, ended })
  }
  // A write was answered during the read: the next one begins at once.
  if (!woken.aborted) await subjects.pause(Math.max(0, EVERY - (ended - began)))
}
