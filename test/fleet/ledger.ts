/**
 * Writers that go on through every fault. Afterwards the audit must have each acknowledged write, also where a later one hides
 * that it is lost.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { pick } from './load-state.ts'
import type { Fleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { makeRewritten, type Rewritten, version, whole } from './rewritten.ts'

const SEATS = 3
/** ms between the writes of one Seat: the machine has other work. */
const PAUSE = 50

export class Ledger {
  readonly #fleet: Fleet
  readonly #gateways: readonly FleetGateway[]
  readonly #seats: readonly Rewritten[]
  /** Names of Seats, by the acknowledged updates. */
  readonly #acknowledged: string[] = []
  #writing: Promise<unknown> = Promise.resolve()
  #ended = false

  private constructor(fleet: Fleet, gateways: readonly FleetGateway[], seats: readonly Rewritten[]) {
    this.#fleet = fleet
    this.#gateways = gateways
    this.#seats = seats
  }

  /** @param gateways those that receive the writes */
  static async start(fleet: Fleet, title: string, gateways: readonly FleetGateway[]): Promise<Ledger> {
    const titles = Array.from({ length: SEATS }, (_, index) => `${title} ${index}`)
    const make = (each: string) => makeRewritten(fleet, each, pick(gateways))
    const ledger = new Ledger(fleet, gateways, await Promise.all(titles.map(make)))
    ledger.#writing = Promise.all(ledger.#seats.map((seat) => ledger.#write(seat)))
    return ledger
  }

  /** Ends the writers. */
  async end(): Promise<void> {
    this.#ended = true
    await this.#writing
  }

  /** Checks that no acknowledged write is lost. */
  async check(t: Test): Promise<void> {
    t.ok(this.#acknowledged.length > 0, `acknowledged writes: ${this.#acknowledged.length}`)
    const audited = await this.#audited()
    const lost = this.#acknowledged.filter((name) => !audited.has(name))
    t.same(lost, [], 'no acknowledged write is lost')
    for (const gateway of this.#fleet.gateways) await whole(t, this.#fleet, gateway, this.#seats)
  }

  /** Names of the Seats after each write. */
  async #audited(): Promise<Set<string>> {
    const ids = this.#seats.map(({ id }) => id)
    const sql = 'SELECT after FROM seatgate.audit WHERE target_id = ANY ($1)'
    const rows = await this.#fleet.query(sql, [ids])
    return new Set(rows.map(({ after }) => JSON.parse(String(after)).name))
  }

  /** A write without a 2xx may have been committed, but never after a later one of its Seat. */
  async #write(seat: Rewritten): Promise<void> {
    while (!this.#ended) {
      if (await update(this.#fleet, pick(this.#gateways), seat))
        this.#acknowledged.push(version(seat.title, seat.answered).name)
      await sleep(PAUSE)
    }
  }
}

/** Whether the update was acknowledged. */
export async function update(fleet: Fleet, gateway: FleetGateway, seat: Rewritten): Promise<boolean> {
  const sent = ++seat.sent
  const { status } = await fleet.admin(gateway, 'PUT', `/v1/seats/${seat.id}`, version(seat.title, sent))
  if (status !== 200 && status !== 503) throw new Error(`an update was answered with ${status}`)
  if (status === 200) seat.answered = sent
  return status === 200
}
