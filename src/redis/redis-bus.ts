/**
 * Messages between the instances of a fleet, by Redis publish/subscribe. Redis loses messages silently when a
 * connection breaks; the coherence protocol tolerates that (`coherence/lease.ts`). One connection subscribes,
 * another publishes.
 */

import { performance } from 'node:perf_hooks'
import type { Acknowledgement, Announcement, Bus, BusReceiver } from '../coherence/bus.ts'
import type { NumberedChange } from '../../seats-admin/model/change.ts'
import { OPEN_KINDS, type OpenCounts } from '../../seats-admin/model/revocation.ts'
import type { Redis } from './ioredis.ts'
import { type RedisConnection, isReady } from './redis-connection.ts'
import type { Keys } from './keys.ts'
import { MAX_VALUE } from './resp.ts'
import type { Seal } from './redis-seal.ts'
import { isRecord, parseJson } from './seat-codec.ts'

/** Milliseconds between the instance's messages to itself, which detect a silent, dead subscription. */
const PING_INTERVAL = 1000
/** Milliseconds without such a message until the bus counts as down. */
const PING_TIMEOUT = 2500

/** Milliseconds without such a message until the subscription is made again. */
const DEAF_AFTER = 4000

type Row = readonly [seq: number, mark: number, tenant: string, kind: string, key: string]

export class RedisBus implements Bus {
  readonly #publisher: RedisConnection
  readonly #subscriber: Redis
  readonly #keys: Keys
  readonly #seal: Seal
  #id = ''
  /** Monotonic ms of the last own message received. */
  #lastPing = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null
  #subscribed = false
  /** Monotonic ms of the subscription, or of the last renewal for want of messages. */
  #expectedFrom = 0

  constructor(publisher: RedisConnection, subscriber: Redis, keys: Keys, seal: Seal) {
    this.#publisher = publisher
    this.#subscriber = subscriber
    this.#keys = keys
    this.#seal = seal
  }

  get up(): boolean {
    return this.#subscribed && isReady(this.#publisher) && performance.now() - this.#lastPing < PING_TIMEOUT
  }

  open(id: string, receiver: BusReceiver): void {
    const channels = [this.#keys.announcements, this.#keys.acknowledgements(id)]
    this.#id = id
    this.#subscriber.on('message', (channel: string, sealed: string) => {
      const text = this.#seal.open(channel, sealed)
      const message = text === null ? null : parse(text)
      if (message === null) return
      if (message.from === id) this.#lastPing = performance.now()
      else if (channel === channels[0] && 'seq' in message) receiver.announced(message)
      else if (channel === channels[1] && 'to' in message) receiver.acknowledged(message)
    })
    const subscribe = () => {
      this.#subscribed = false
      this.#subscriber.subscribe(...channels).then(
        () => {
          this.#subscribed = true
          this.#expectedFrom = performance.now()
          this.#ping()
        },
        // The connection reports it.
        () => {},
      )
    }
    this.#subscriber.on('ready', subscribe)
    this.#subscriber.on('close', () => {
      this.#subscribed = false
    })
    if (isReady(this.#subscriber)) subscribe()
    this.#timer = setInterval(() => this.#check(subscribe), PING_INTERVAL)
    this.#timer.unref()
  }

  announce({ from, number, seq, changes }: Announcement): void {
    const rows =
      changes?.map(({ seq, mark, tenant, kind, key }): Row => [seq, mark, tenant, kind, key]) ?? null
    const text = JSON.stringify({ from, number, seq, changes: rows })
    const bounded = text.length > MAX_VALUE ? JSON.stringify({ from, number, seq, changes: null }) : text
    this.#publish(this.#keys.announcements, bounded)
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    this.#publish(this.#keys.acknowledgements(acknowledgement.to), JSON.stringify(acknowledgement))
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#subscriber.disconnect()
    this.#publisher.disconnect()
  }

  #check(subscribe: () => void): void {
    this.#ping()
    if (!isReady(this.#subscriber)) return
    if (!this.#subscribed) return subscribe()
    if (this.#isDeaf()) return this.#subscriber.disconnect(true)
    // Without a reply, ioredis closes the connection and reconnects.
    this.#subscriber.ping().catch(() => {})
  }

  /**
   * Whether both connections are open, and no message arrives: after a failover of one address they may lead
   * to two servers. The publisher's connection is made again if its server refuses writes.
   */
  #isDeaf(): boolean {
    const now = performance.now()
    if (!isReady(this.#publisher)) this.#expectedFrom = now
    if (now - Math.max(this.#lastPing, this.#expectedFrom) < DEAF_AFTER) return false
    this.#expectedFrom = now
    return true
  }

  #ping(): void {
    this.acknowledge({ to: this.#id, from: this.#id, number: 0 })
  }

  #publish(channel: string, text: string): void {
    if (!isReady(this.#publisher)) return
    this.#publisher.publish(channel, this.#seal.seal(channel, text)).catch(() => {})
  }
}

/** @returns null for an invalid message, which is treated as lost */
function parse(text: string): Announcement | Acknowledgement | null {
  const data = parseJson(text)
  if (!isRecord(data)) return null
  const { from, number, seq, to, changes, cut } = data
  if (typeof from !== 'string' || !Number.isSafeInteger(number)) return null
  const head = { from, number: number as number }
  if (typeof to === 'string') return isCut(cut) ? { ...head, to, cut } : { ...head, to }
  if (!Number.isSafeInteger(seq)) return null
  if (changes === null) return { ...head, seq: seq as number, changes }
  if (!Array.isArray(changes) || !changes.every(isRow)) return null
  return { ...head, seq: seq as number, changes: changes.map(change) }
}

function isCut(data: unknown): data is OpenCounts | null {
  return data === null || (isRecord(data) && OPEN_KINDS.every((kind) => isCount(data[kind])))
}

function isCount(data: unknown): boolean {
  return Number.isSafeInteger(data) && Number(data) >= 0
}

function isRow(data: unknown): data is Row {
  if (!Array.isArray(data) || data.length !== 5) return false
  return (
    data.slice(0, 2).every(Number.isSafeInteger) && data.slice(2).every((each) => typeof each === 'string')
  )
}

/** A kind that this version doesn't know makes the Seat memory drop all entries. */
function change([seq, mark, tenant, kind, key]: Row): NumberedChange {
  return { seq, mark, tenant, kind: kind as NumberedChange['kind'], key }
}
