/**
 * A fleet in two regions: one instance has a long way to PostgreSQL and Redis. It decides from memory as the others do, nothing is
 * stale, and its writes and cold reads are answered. `node test/fleet/far-region.slow.test.ts` prints the figures of docs/fleet.md.
 */

import t, { type Test } from 'tap'
import { metric } from '../support/operations.ts'
import { amount } from '../support/thorough.ts'
import { type Load, underLoad } from './checker.ts'
import { type Fleet, SPACE, startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { adminRequest, type Answer, Client } from '../support/client.ts'

/** ms of a round trip: half of it each way. */
const ROUND_TRIPS = [80, 150]
/** Requests of each kind. */
const COUNT = amount({ usual: 8, thorough: 30 })
const LOOKS = 20

for (const ms of ROUND_TRIPS)
  t.test(`a round trip of ${ms} ms`, async (t) => {
    const fleet = await startFleet(t, { proxies: ['store', 'redis'] })
    const [far, near] = [fleet.at(0), fleet.at(1)]
    far.toStore?.delay(ms / 2)
    far.toRedis?.delay(ms / 2)
    const region = new Region(t, fleet)

    await region.writes('write, near', near)
    await region.writes('write, far', far)
    await region.beside(far, () => region.writes('write, near, while the far instance writes', near))
    const [first, second, third] = [
      await region.seats(near),
      await region.seats(near),
      await region.seats(near),
    ]
    await region.reads('cold read, far', far, first)
    await region.reads('cold read, near, from Redis', near, first)
    await region.reads('cold read, near', near, second)
    await region.reads('cold read, far, from Redis', far, second)
    await region.beside(near, () => region.reads('cold read, far, while a near instance writes', far, third))
    await region.reads('from memory, near', near, first)
    await region.reads('from memory, far', far, first)

    const leases: number[] = []
    const during = async (load: Load) => {
      while (leases.length < LOOKS) {
        await load.decided(far, COUNT)
        leases.push(await metric(far, 'seatgate_lease_live'))
      }
    }
    const through = (gateway: FleetGateway) => gateway !== far
    const tally = await underLoad(t, `changes by the near instances, ${ms} ms`, fleet, during, { through })
    const live = leases.filter((lease) => lease === 1).length
    t.comment(
      `decided by the far instance: ${tally.decided.get(far.name)}, lease live at ${live} of ${LOOKS} looks`,
    )
    t.ok(live > 0, 'readings give the far instance a lease')
    t.equal((await far.ready())['status'], 'ready')
  })

class Region {
  readonly #t: Test
  readonly #fleet: Fleet
  #names = 0

  constructor(t: Test, fleet: Fleet) {
    this.#t = t
    this.#fleet = fleet
  }

  async writes(title: string, gateway: FleetGateway): Promise<void> {
    const answered = () => Promise.all(['acknowledged', 'waited'].map((by) => answeredBy(gateway, by)))
    const before = await answered()
    const times = await this.#timed(title, gateway, COUNT, (client) => this.#write(client))
    const [acknowledged = 0, waited = 0] = (await answered()).map((count, at) => count - (before[at] ?? 0))
    this.#report(title, times, `acknowledged ${acknowledged}, waited ${waited}`)
  }

  /** Writes through a gateway, one after the other, meanwhile. */
  async beside(gateway: FleetGateway, meanwhile: () => Promise<void>): Promise<void> {
    let isOver = false
    const client = new Client(gateway.port)
    const writing = (async () => {
      while (!isOver) await this.#write(client)
    })()
    await meanwhile()
    isOver = true
    await writing
    client.close()
  }

  /** Names of new Seats. */
  async seats(gateway: FleetGateway): Promise<string[]> {
    const names: string[] = []
    while (names.length < COUNT)
      names.push((await this.#fleet.makeSeat(gateway, `Read ${++this.#names}`)).name)
    return names
  }

  /** One request for each Seat. */
  async reads(title: string, gateway: FleetGateway, seats: readonly string[]): Promise<void> {
    const tokens = await Promise.all(seats.map((name) => this.#fleet.token([`${SPACE}:${name}`])))
    const times = await this.#timed(title, gateway, seats.length, (client, at) =>
      client.send('GET', '/v1/trainings', { authorization: `Bearer ${tokens[at]}`, space: SPACE }),
    )
    this.#report(title, times)
  }

  /** ms of each request that was answered with 200; the others must be 503. */
  async #timed(
    title: string,
    gateway: FleetGateway,
    count: number,
    send: (client: Client, at: number) => Promise<Answer>,
  ): Promise<number[]> {
    const client = new Client(gateway.port)
    const times: number[] = []
    for (let at = 0; at < count; at++) {
      const start = performance.now()
      const { status } = await send(client, at)
      if (status === 200) times.push(performance.now() - start)
      else this.#t.equal(status, 503, title)
    }
    client.close()
    this.#t.ok(times.length > 0, `${title}: answered`)
    return times
  }

  #write(client: Client): Promise<Answer> {
    const seat = { name: `Written ${++this.#names}`, spaces: [SPACE], permissions: [] }
    return client.send('POST', '/v1/seats', ...adminRequest(this.#fleet.key, seat))
  }

  #report(title: string, times: readonly number[], more = ''): void {
    const sorted = times.toSorted((a, b) => a - b)
    const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(1)
    this.#t.comment(
      `${title}: median ${at(0.5)} ms, p99 ${at(0.99)} ms; 503: ${COUNT - times.length} of ${COUNT}; ${more}`,
    )
  }
}

/** Number of writes answered so. */
async function answeredBy(gateway: FleetGateway, by: string): Promise<number> {
  return (await metric(gateway, `seatgate_write_answered_seconds_count{by="${by}"}`)) || 0
}
