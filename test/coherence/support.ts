/** Time and a store in the test's hand. For the tests of this room. */

import type { Committed, NumberedChange, Position } from '../../seats-admin/model/change.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import type { Clock } from '../../src/coherence/clock.ts'
import type { ChangeSource, InstanceList, ListedInstance } from '../../src/coherence/feeds.ts'

/** All that was set off has been done. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

export class HandClock implements Clock {
  #now = 0
  #wallStep = 0
  #timers: { readonly at: number; readonly run: () => void }[] = []

  now(): number {
    return this.#now
  }

  wall(): number {
    return 1e12 + this.#now + this.#wallStep
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer)
    }
  }

  /** Timer by timer; what one sets off is done before the next. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    await settled()
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      const due = next
      this.#timers = this.#timers.filter((each) => each !== due)
      this.#now = due.at
      due.run()
      await settled()
    }
    this.#now = end
  }

  /** No timer runs: the process was frozen, or the answer that is awaited takes this long. */
  jump(ms: number): void {
    this.#now += ms
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.length
  }

  setWall(by: number): void {
    this.#wallStep += by
  }

  #nextUntil(end: number) {
    return this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
  }
}

export const position = (seq: number, mark = 1000 + seq): Position => ({ seq, mark })

export function change(key: string, seq: number, kind: NumberedChange['kind'] = 'seat'): NumberedChange {
  return { ...position(seq), tenant: 'acme', kind, key }
}

export function reading(noted: number, from: Position | null, ...changes: NumberedChange[]): Reading {
  const last = changes.at(-1)
  return { noted, from, head: last === undefined ? (from ?? position(0, 0)) : position(last.seq), changes }
}

/** Does at once what it is asked; its answers wait while it is held. */
export class HandStore implements ChangeSource, InstanceList {
  /** What it was asked, in order. */
  readonly asked: string[] = []
  readonly rows = new Map<string, ListedInstance>()
  readonly changes: NumberedChange[] = []
  isDown = false
  /** Changes can't be told. */
  isPruned = false
  #held: Promise<void> | null = null

  /** @returns what lets the answers go */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = null
      resolve()
    }
  }

  /** One change to each key, in one commit. */
  commit(...keys: string[]): Committed {
    for (const key of keys) this.changes.push(change(key, this.changes.length + 1))
    const changes = keys.map((key) => ({ tenant: 'acme', kind: 'seat' as const, key }))
    return { ...this.#head, changes }
  }

  changesSince(from: Position | null) {
    return this.#answer('read', this.#since(from))
  }

  register(id: string, _name: string): Promise<void> {
    if (!this.isDown && !this.rows.has(id)) this.rows.set(id, { id, beat: 0, applied: 0 })
    return this.#answer(`register ${id}`, undefined)
  }

  follow(id: string, beat: number, from: Position | null, applied: number) {
    const registered = this.rows.has(id)
    if (!this.isDown && registered) this.rows.set(id, { id, beat, applied })
    return this.#answer(`follow ${id} ${beat}`, { ...this.#since(from), registered })
  }

  instances(): Promise<readonly ListedInstance[]> {
    return this.#answer('list', [...this.rows.values()])
  }

  forget(id: string, beat: number): Promise<void> {
    if (!this.isDown && this.rows.get(id)?.beat === beat) this.rows.delete(id)
    return this.#answer(`forget ${id} ${beat}`, undefined)
  }

  leave(id: string): Promise<void> {
    if (!this.isDown) this.rows.delete(id)
    return this.#answer(`leave ${id}`, undefined)
  }

  get #head(): Position {
    return this.changes.length === 0 ? position(0, 0) : position(this.changes.length)
  }

  #since(from: Position | null) {
    return { head: this.#head, changes: this.isPruned ? null : this.changes.slice(from?.seq ?? 0) }
  }

  async #answer<V>(question: string, answer: V): Promise<V> {
    this.asked.push(question)
    if (this.isDown) throw new Error('down')
    await this.#held
    return answer
  }
}
