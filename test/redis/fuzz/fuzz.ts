/**
 * A running gateway whose Redis says anything at all, while requests come that have to ask it: Seats never met, and
 * writes. Each request must be answered as the store has it, by the process that was started.
 */

import { readFileSync } from 'node:fs'
import { Client } from '../../support/client.ts'
import { adminRequest, type Fleet } from '../../fleet/fleet.ts'
import type { FleetGateway } from '../../fleet/gateway.ts'
import { Random } from '../../hostile/fuzz/random.ts'
import type { HostileRedis } from './hostile-redis.ts'
import { hostileReply } from './replies.ts'

export interface Found {
  readonly requests: number
  readonly writes: number
  /** What was not answered as it should be. */
  readonly faults: readonly string[]
  /** Bytes of memory that the process had at most, beyond what it had at rest. */
  readonly grown: number
}

/** Until Redis has said `cases` wrong things. */
export async function fuzz(
  fleet: Fleet,
  gateway: FleetGateway,
  redis: HostileRedis,
  { cases, seed }: { readonly cases: number; readonly seed: number },
): Promise<Found> {
  const random = new Random(seed)
  const [pid, before] = [gateway.pid, memory(gateway.pid).now]
  const until = redis.hostile + cases
  // Most answers are right, so that clients come to their later commands, too.
  redis.says = (_command, honest) => (random.once(6) ? hostileReply(random, honest) : null)
  const driver = new Driver(fleet, gateway)
  try {
    await driver.run(() => redis.hostile < until && gateway.crash === null)
  } finally {
    redis.says = () => null
    driver.close()
  }
  const { requests, writes, faults } = driver
  if (gateway.crash !== null) return { requests, writes, faults: [`ended: ${gateway.crash}`], grown: 0 }
  return { requests, writes, faults, grown: memory(pid).most - before }
}

/** Requests side by side, each for a Seat name that the gateway has not met; and one write after the other. */
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
      ...Array.from({ length: 4 }, () => repeat(() => this.#ask())),
      repeat(() => this.#write()),
    ])
  }

  close(): void {
    this.#client.close()
  }

  async #ask(): Promise<void> {
    const name = `never met ${this.#gateway.name} ${this.requests++}`
    const authorization = `Bearer ${await this.#fleet.token([`s1:${name}`, 's1:Viewer'])}`
    await this.#expect('GET', '/v1/trainings', { authorization, space: 's1' })
  }

  async #write(): Promise<void> {
    const name = `written ${this.#gateway.name} ${this.writes++}`
    const seat = { name, spaces: ['s1'], permissions: ['a:b'] }
    await this.#expect('POST', '/v1/seats', ...adminRequest(this.#fleet.key, seat))
  }

  async #expect(method: string, path: string, headers: Record<string, string>, body?: string): Promise<void> {
    try {
      const answer = await this.#client.send(method, path, headers, body)
      if (answer.status !== 200) this.faults.push(`${method} ${path}: ${answer.status} ${answer.body}`)
    } catch (cause) {
      this.faults.push(`${method} ${path}: ${String(cause)}`)
    }
  }
}

/** Bytes that a process has in memory, now and at most so far. */
function memory(pid: number): { now: number; most: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024
  return { now: of('VmRSS'), most: of('VmHWM') }
}
