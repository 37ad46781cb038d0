/**
 * Fuzzes a running gateway through its Redis. Requests for uncached Seats, and writes, make it use Redis. Each request
 * must be answered from the store, by the process that was started.
 */

import { Client } from '../../support/client.ts'
import { adminRequest, type Fleet } from '../../fleet/fleet.ts'
import type { FleetGateway } from '../../fleet/gateway.ts'
import { Random } from '../../support/random.ts'
import { memoryOf } from '../../operations/process-status.ts'
import type { HostileRedis } from './hostile-redis.ts'
import { hostileReply } from './replies.ts'

export interface Found {
  readonly requests: number
  readonly writes: number
  /** Wrong answers. */
  readonly faults: readonly string[]
  /** Bytes of memory at the peak, beyond the memory before the fuzz. */
  readonly grown: number
}

/** Headers and body. */
type RequestParts = readonly [headers: Record<string, string>, body?: string]

/** Of a request that is answered 503. */
const ATTEMPTS = 3

/** Runs until Redis has sent `cases` hostile replies. */
export async function fuzz(
  fleet: Fleet,
  gateway: FleetGateway,
  redis: HostileRedis,
  { cases, seed }: { readonly cases: number; readonly seed: number },
): Promise<Found> {
  const random = new Random(seed)
  const [pid, before] = [gateway.pid, memoryOf(gateway.pid)]
  const until = redis.hostile + cases
  // Most replies are correct, so that clients reach their later commands.
  redis.replaceReply = (_command, correct) => (random.once(6) ? hostileReply(random, correct) : null)
  const driver = new Driver(fleet, gateway)
  try {
    await driver.run(() => redis.hostile < until && gateway.crash === null)
  } finally {
    redis.replaceReply = () => null
    driver.close()
  }
  const { requests, writes, faults } = driver
  if (gateway.crash !== null) return { requests, writes, faults: [`ended: ${gateway.crash}`], grown: 0 }
  return { requests, writes, faults, grown: (memoryOf(pid, 'VmHWM') - before) * 1024 * 1024 }
}

/** Sends parallel requests, each for an uncached Seat name, and one write at a time. */
class Driver {
  requests = 0
  writes = 0
  readonly faults: string[] = []
  readonly #fleet: Fleet
  readonly #gateway: FleetGateway
  readonly #client: Client

  constructor(fleet: Fleet, gateway: FleetGateway) {
    this.#fleet = fleet
    this.#gateway = gateway
    this.#client = new Client(gateway.port, 8)
  }

  async run(more: () => boolean): Promise<void> {
    const repeat = async (step: () => Promise<void>) => {
      while (more() && this.faults.length < 5) await step()
    }
    await Promise.all([
      ...Array.from({ length: 4 }, () => repeat(() => this.#read())),
      repeat(() => this.#write()),
    ])
  }

  close(): void {
    this.#client.close()
  }

  async #read(): Promise<void> {
    const name = `never met ${this.#gateway.name} ${this.requests++}`
    const authorization = `Bearer ${await this.#fleet.token([`s1:${name}`, 's1:Viewer'])}`
    await this.#expect('GET', '/v1/trainings', () => [{ authorization, space: 's1' }])
  }

  async #write(): Promise<void> {
    // Another Seat each time: a write that the store answered too late may have taken effect.
    await this.#expect('POST', '/v1/seats', () => {
      const name = `written ${this.#gateway.name} ${this.writes++}`
      return adminRequest(this.#fleet.key, { name, spaces: ['s1'], permissions: ['a:b'] })
    })
  }

  async #expect(method: string, path: string, request: () => RequestParts): Promise<void> {
    try {
      let answer = await this.#client.send(method, path, ...request())
      // The store has two seconds for an answer, which a busy machine may exceed now and then, but not three times.
      for (let attempt = 1; answer.status === 503 && attempt < ATTEMPTS; attempt++)
        answer = await this.#client.send(method, path, ...request())
      if (answer.status !== 200) this.faults.push(`${method} ${path}: ${answer.status} ${answer.body}`)
    } catch (cause) {
      this.faults.push(`${method} ${path}: ${String(cause)}`)
    }
  }
}
