/** One process's way to Redis: commands with the real timeout, as `src/redis/seat-cache.ts` gives them, and messages. */

import type { Acknowledgement, Announcement, Bus, BusReceiver } from '../../../src/coherence/bus.ts'
import { COMMAND_TIMEOUT, type RedisConnection } from '../../../src/redis/connection.ts'
import { delay, type Nature } from './nature.ts'
import type { Process } from './process.ts'
import type { RedisModel, Subscriber } from './redis.ts'

/** Milliseconds that a message or a late write may be under way at most, when it takes long. */
const LATEST = 3000

export class RedisClient {
  readonly #nature: Nature
  readonly #redis: RedisModel
  readonly #process: Process
  /** Whether a cut link is noticed, so that commands fail at once. */
  readonly #notices: boolean

  constructor(nature: Nature, redis: RedisModel, process: Process) {
    this.#nature = nature
    this.#redis = redis
    this.#process = process
    this.#notices = nature.random.chance(0.5)
  }

  /** For who wants ioredis: of all it can do, only this is asked of it. */
  get asConnection(): RedisConnection {
    return this as unknown as RedisConnection
  }

  get status(): 'ready' | 'reconnecting' {
    return this.#process.machine.redis.isCut && this.#notices ? 'reconnecting' : 'ready'
  }

  get(key: string): Promise<string | null> {
    const { promise, resolve, reject } = Promise.withResolvers<string | null>()
    const process = this.#process
    const { redis } = process.machine
    const giveUp = process.clock.after(COMMAND_TIMEOUT, () => reject(new Error('Command timed out')))
    redis.carry(delay(this.#nature), null, () => {
      const value = this.#redis.get(key)
      redis.carry(delay(this.#nature), process, () => {
        giveUp()
        resolve(value)
      })
    })
    return promise
  }

  /** May be done long after the asker has given up. */
  set(key: string, value: string, _ex: 'EX', _seconds: number): Promise<'OK'> {
    this.#process.machine.redis.carry(late(this.#nature), null, () => this.#redis.set(key, value))
    return Promise.resolve('OK')
  }
}

export class SimulatedBus implements Bus {
  readonly #nature: Nature
  readonly #redis: RedisModel
  readonly #process: Process
  readonly #notices: boolean
  #id = ''

  constructor(nature: Nature, redis: RedisModel, process: Process) {
    this.#nature = nature
    this.#redis = redis
    this.#process = process
    this.#notices = nature.random.chance(0.5)
  }

  get up(): boolean {
    return !(this.#process.machine.redis.isCut && this.#notices)
  }

  open(id: string, receiver: BusReceiver): void {
    this.#id = id
    this.#redis.subscribers.set(id, { process: this.#process, receiver })
  }

  announce(announcement: Announcement): void {
    for (const [id, subscriber] of this.#redis.subscribers) {
      if (id !== this.#id) this.#send(subscriber, () => subscriber.receiver.announced(announcement))
    }
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    const subscriber = this.#redis.subscribers.get(acknowledgement.to)
    if (subscriber !== undefined) {
      this.#send(subscriber, () => subscriber.receiver.acknowledged(acknowledgement))
    }
  }

  async close(): Promise<void> {
    this.#redis.subscribers.delete(this.#id)
  }

  /** Each on its own: the order in which they were sent means nothing. */
  #send({ process }: Subscriber, receive: () => void): void {
    const { random, weather } = this.#nature
    if (this.#process.machine.redis.isCut) return
    const times = random.chance(weather.doubled) ? 2 : 1
    for (let time = 0; time < times; time++) {
      if (!random.chance(weather.lost)) process.machine.redis.carry(late(this.#nature), process, receive)
    }
  }
}

function late(nature: Nature): number {
  const { random, weather } = nature
  return random.chance(weather.slow / 4) ? random.between(0, LATEST) : delay(nature)
}
