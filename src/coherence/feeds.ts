/** The feed as a follower reads it: of a store that one gateway has to itself, or of one that a fleet shares. */

import type { Instance } from '../../seats-admin/model/instance.ts'
import type { NumberedChange, Position } from '../../seats-admin/model/change.ts'
import type { Clock } from './clock.ts'
import type { Feed, FeedAnswer } from './follower.ts'

interface StoreReading {
  readonly head: Position
  readonly changes: readonly NumberedChange[] | null
}

/** What the store must do for one gateway. */
export interface ChangeSource {
  changesSince(position: Position | null): Promise<StoreReading>
}

/** What it must do for a fleet. See the store's `Registry`, which says what each promises. */
export interface InstanceList {
  register(id: string, name: string): Promise<void>
  follow(
    id: string,
    beat: number,
    position: Position | null,
    applied: number,
  ): Promise<StoreReading & { readonly registered: boolean }>
  instances(): Promise<readonly ListedInstance[]>
  forget(id: string, beat: number): Promise<void>
  leave(id: string): Promise<void>
}

/** Of the list, what the protocol reads. */
export type ListedInstance = Pick<Instance, 'id' | 'beat' | 'applied'>

/** Nobody else decides from this store's memory: nobody needs to know of us. */
export class PlainFeed implements Feed {
  readonly #source: ChangeSource

  constructor(source: ChangeSource) {
    this.#source = source
  }

  async read(position: Position | null, noted: number): Promise<FeedAnswer> {
    return { ...(await this.#source.changesSince(position)), noted }
  }
}

/** Each reading is a sign of life too, and gives a lease only while the instance is on the list. */
export class RegisteredFeed implements Feed {
  readonly #list: InstanceList
  readonly #clock: Clock
  readonly #id: string
  readonly #name: string
  #beat = 0
  #registered = false

  constructor(list: InstanceList, clock: Clock, id: string, name: string) {
    this.#list = list
    this.#clock = clock
    this.#id = id
    this.#name = name
  }

  async read(position: Position | null, noted: number, applied: number): Promise<FeedAnswer> {
    if (this.#registered) {
      const found = await this.#list.follow(this.#id, ++this.#beat, position, applied)
      if (found.registered) return { ...found, noted }
    }
    return this.#readAnew(position, applied)
  }

  /** First on the list, for good, and only then a reading: a writer before that saw us not, and we see what it wrote. */
  async #readAnew(position: Position | null, applied: number): Promise<FeedAnswer> {
    this.#registered = false
    await this.#list.register(this.#id, this.#name)
    this.#registered = true
    const noted = this.#clock.now()
    const found = await this.#list.follow(this.#id, ++this.#beat, position, applied)
    // Writers took it off again, as its sign of life came too late: the store is slower than a lease is long.
    this.#registered = found.registered
    return { ...found, noted, listed: found.registered }
  }
}
