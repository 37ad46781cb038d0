/** A manual clock and a fake store for the tests of this folder. */

import type {
  CutReport,
  ReachableInstance,
  Shown,
  TenantSecrets,
} from '../../seats-admin/model/registered-instance.ts'
import {
  CHANGE_KINDS,
  type ChangeReader,
  type Committed,
  type NumberedChange,
  type Position,
} from '../../seats-admin/model/change.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import type { Clock } from '../../src/coherence/clock.ts'
import type { InstanceList } from '../../src/coherence/feeds.ts'

/** Resolves once all pending promise reactions have run. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The wall clock when the monotonic one begins. */
const EPOCH = 1e12

export class ManualClock implements Clock {
  #now = 0
  #wallStep = 0
  #timers: { readonly at: number; readonly run: () => void }[] = []

  now(): number {
    return this.#now
  }

  wall(): number {
    return EPOCH + this.#now + this.#wallStep
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer)
    }
  }

  /** Runs the timers that are due, and after each the work that it starts. */
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

  /** Passes time without timers: the process was frozen, or the pending response takes this long. */
  jump(ms: number): void {
    this.#now += ms
  }

  /** Number of pending timers. */
  get timers(): number {
    return this.#timers.length
  }

  stepWall(by: number): void {
    this.#wallStep += by
  }

  #nextUntil(end: number) {
    return this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
  }
}

/** An instance on the list of the store. */
export function listed(
  id: string,
  beat = 1,
  applied = 0,
  more: Partial<ReachableInstance> = {},
): ReachableInstance {
  return {
    id,
    name: `host ${id}`,
    beat,
    applied,
    understands: CHANGE_KINDS,
    cuts: [],
    gone: false,
    tables: null,
    process: null,
    ...more,
  }
}

export const position = (seq: number, mark = 1000 + seq): Position => ({ seq, mark })

export function change(key: string, seq: number, kind: NumberedChange['kind'] = 'seat'): NumberedChange {
  return { ...position(seq), tenant: 'acme', kind, key }
}

export function reading(noted: number, from: Position | null, ...changes: NumberedChange[]): Reading {
  const last = changes.at(-1)
  const head = last === undefined ? (from ?? position(0, 0)) : position(last.seq)
  return { noted, notedWall: EPOCH + noted, from, head, changes }
}

/** Performs each call at once; its responses wait while it is held. */
export class FakeStore implements ChangeReader, InstanceList {
  /** The calls, in order. */
  readonly calls: string[] = []
  readonly rows = new Map<string, ReachableInstance>()
  readonly changes: NumberedChange[] = []
  isDown = false
  /** Changes are not available. */
  isPruned = false
  #held: Promise<void> | null = null

  /** @returns a function that releases the responses */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = null
      resolve()
    }
  }

  /** Commits one change of each key. */
  commit(...keys: string[]): Committed {
    return this.commitOf('seat', ...keys)
  }

  commitOf(kind: NumberedChange['kind'], ...keys: string[]): Committed {
    for (const key of keys) this.changes.push(change(key, this.changes.length + 1, kind))
    const changes = keys.map((key) => ({ tenant: 'acme', kind, key }))
    return { ...this.#head, changes }
  }

  changesSince(from: Position | null) {
    return this.#answer('read', this.#since(from))
  }

  register(id: string, _name: string): Promise<void> {
    if (!this.isDown && !this.rows.has(id)) this.rows.set(id, listed(id, 0))
    return this.#answer(`register ${id}`, undefined)
  }

  /** What the last sign of life told. */
  shown: Shown | undefined

  follow(
    id: string,
    beat: number,
    from: Position | null,
    applied: number,
    shown?: Shown,
    cuts: readonly CutReport[] = [],
  ) {
    this.shown = shown
    const registered = this.rows.has(id)
    if (!this.isDown && registered) this.rows.set(id, listed(id, beat, applied, { cuts }))
    return this.#answer(`follow ${id} ${beat}`, { ...this.#since(from), registered })
  }

  reachable(): Promise<readonly ReachableInstance[]> {
    return this.#answer('list', [...this.rows.values()])
  }

  /** What was shown of secrets last. */
  secrets: TenantSecrets | undefined

  showSecrets(id: string, secrets: TenantSecrets): Promise<void> {
    if (!this.isDown && this.rows.has(id)) this.secrets = secrets
    return this.#answer(`secrets ${id}`, undefined)
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

  async #answer<V>(call: string, answer: V): Promise<V> {
    this.calls.push(call)
    if (this.isDown) throw new Error('down')
    await this.#held
    return answer
  }
}
