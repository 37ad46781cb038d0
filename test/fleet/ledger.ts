/** Writers that go on through every fault, so that each acknowledged write can be looked for afterwards. */

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

  /** Ends the writers, and checks that no acknowledged write is lost. */
  async end(t: Test): Promise<void> {
    this.#ended = true
    await this.#writing
    const acknowledged = this.#seats.map((seat) => seat.acknowledged)
    t.ok(Math.min(...acknowledged) > 0, `acknowledged writes: ${acknowledged.join(' ')}`)
    for (const gateway of this.#fleet.gateways) await whole(t, this.#fleet, gateway, this.#seats)
  }

  /** A write without a 2xx may have been committed, but never after a later one of its Seat. */
  async #write(seat: Rewritten): Promise<void> {
    while (!this.#ended) {
      if (await update(this.#fleet, pick(this.#gateways), seat)) seat.acknowledged++
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
