/** A process's client of Redis: commands with the real timeout, as `src/redis/seat-cache.ts` sends them, and messages. */

import type { Acknowledgement, Announcement, Bus, BusReceiver } from '../../../src/coherence/bus.ts'
import { COMMAND_TIMEOUT, type RedisConnection } from '../../../src/redis/redis-connection.ts'
import { delay, type Context } from './context.ts'
import type { Process } from './process.ts'
import type { RedisModel, Subscriber } from './redis.ts'

/** Maximum delay in milliseconds of a slow message or a late write. */
const MAX_DELAY = 3000

export class RedisClient {
  readonly #context: Context
  readonly #redis: RedisModel
  readonly #process: Process
  /** Whether a cut link is detected, so that commands fail at once. */
  readonly #notices: boolean

  constructor(context: Context, redis: RedisModel, process: Process) {
    this.#context = context
    this.#redis = redis
    this.#process = process
    this.#notices = context.random.chance(0.5)
  }

  /** As the type of ioredis: the product uses only these commands. */
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
    redis.carry(delay(this.#context), null, () => {
      const value = this.#redis.get(key)
      redis.carry(delay(this.#context), process, () => {
        giveUp()
        resolve(value)
      })
    })
    return promise
  }

  /** May take effect long after the timeout. */
  set(key: string, value: string, _ex: 'EX', _seconds: number): Promise<'OK'> {
    this.#process.machine.redis.carry(late(this.#context), null, () => this.#redis.set(key, value))
    return Promise.resolve('OK')
  }
}

export class SimulatedBus implements Bus {
  readonly #context: Context
  readonly #redis: RedisModel
  readonly #process: Process
  readonly #notices: boolean
  #id = ''

  constructor(context: Context, redis: RedisModel, process: Process) {
    this.#context = context
    this.#redis = redis
    this.#process = process
    this.#notices = context.random.chance(0.5)
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

  /** Each message has its own delay, so they are reordered. */
  #send({ process }: Subscriber, receive: () => void): void {
    const { random, conditions } = this.#context
    if (this.#process.machine.redis.isCut) return
    const times = random.chance(conditions.doubled) ? 2 : 1
    for (let time = 0; time < times; time++) {
      if (!random.chance(conditions.lost)) process.machine.redis.carry(late(this.#context), process, receive)
    }
  }
}

function late(context: Context): number {
  const { random, conditions } = context
  return random.chance(conditions.slow / 4) ? random.between(0, MAX_DELAY) : delay(context)
}
