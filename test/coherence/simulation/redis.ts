/**
 * A model of Redis at its worst: it loses, delays and duplicates messages, loses all values, or returns to earlier values.
 * Its clients send commands with the real timeout, as `src/redis/seat-cache.ts` does, and messages.
 */

import type { Acknowledgement, Announcement, Bus, BusReceiver } from '../../../src/coherence/bus.ts'
import { COMMAND_TIMEOUT, type RedisConnection } from '../../../src/redis/redis-connection.ts'
import { delay, type Context } from './context.ts'
import type { Process } from './process.ts'

/** Maximum delay in milliseconds of a slow message or a late write. */
const MAX_DELAY = 3000

interface Subscriber {
  readonly process: Process
  readonly receiver: BusReceiver
}

export class RedisModel {
  readonly subscribers = new Map<string, Subscriber>()
  readonly #values = new Map<string, string>()
  #before: ReadonlyMap<string, string> = new Map()

  get(key: string): string | null {
    return this.#values.get(key) ?? null
  }

  set(key: string, value: string): void {
    this.#values.set(key, value)
  }

  /** A restart without data. */
  clear(): void {
    this.#values.clear()
  }

  /** The state of a replica that lags behind. */
  copy(): void {
    this.#before = new Map(this.#values)
  }

  /** A failover to that replica. */
  failOver(): void {
    this.#values.clear()
    for (const [key, value] of this.#before) this.#values.set(key, value)
  }
}

/** A process's connection. */
class Client {
  protected readonly redis: RedisModel
  protected readonly process: Process
  /** Whether a cut link is detected. */
  readonly #notices: boolean

  constructor(redis: RedisModel, process: Process) {
    this.redis = redis
    this.process = process
    this.#notices = process.context.random.chance(0.5)
  }

  /** As far as the process knows. */
  get up(): boolean {
    return !(this.process.machine.redis.isCut && this.#notices)
  }
}

export class RedisClient extends Client {
  /** As the type of ioredis: the product uses only these commands. */
  get asConnection(): RedisConnection {
    return this as unknown as RedisConnection
  }

  get status(): 'ready' | 'reconnecting' {
    return this.up ? 'ready' : 'reconnecting'
  }

  get(key: string): Promise<string | null> {
    const { promise, resolve, reject } = Promise.withResolvers<string | null>()
    const { process } = this
    const { context, clock, machine } = process
    const giveUp = clock.after(COMMAND_TIMEOUT, () => reject(new Error('Command timed out')))
    machine.redis.carry(delay(context), null, () => {
      const value = this.redis.get(key)
      machine.redis.carry(delay(context), process, () => {
        giveUp()
        resolve(value)
      })
    })
    return promise
  }

  /** May take effect long after the timeout. */
  set(key: string, value: string, _ex: 'EX', _seconds: number): Promise<'OK'> {
    this.process.machine.redis.carry(late(this.process.context), null, () => this.redis.set(key, value))
    return Promise.resolve('OK')
  }
}

export class SimulatedBus extends Client implements Bus {
  #id = ''

  open(id: string, receiver: BusReceiver): void {
    this.#id = id
    this.redis.subscribers.set(id, { process: this.process, receiver })
  }

  announce(announcement: Announcement): void {
    this.process.context.model?.announces(this.process, announcement)
    for (const [id, subscriber] of this.redis.subscribers) {
      if (id !== this.#id) this.#send(subscriber, () => subscriber.receiver.announced(announcement))
    }
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    const { model } = this.process.context
    const subscriber = this.redis.subscribers.get(acknowledgement.to)
    model?.acknowledgement('confirm', this.process, acknowledgement)
    if (subscriber === undefined) return
    this.#send(subscriber, () => {
      model?.acknowledgement('confirmed', subscriber.process, acknowledgement)
      subscriber.receiver.acknowledged(acknowledgement)
    })
  }

  async close(): Promise<void> {
    this.redis.subscribers.delete(this.#id)
  }

  /** Each message has its own delay, so they are reordered. */
  #send({ process }: Subscriber, receive: () => void): void {
    const { random, conditions } = this.process.context
    if (this.process.machine.redis.isCut) return
    const times = random.chance(conditions.doubled) ? 2 : 1
    for (let time = 0; time < times; time++) {
      if (!random.chance(conditions.lost))
        process.machine.redis.carry(late(this.process.context), process, receive)
    }
  }
}

function late(context: Context): number {
  const { random, conditions } = context
  return random.chance(conditions.slow / 4) ? random.between(0, MAX_DELAY) : delay(context)
}
