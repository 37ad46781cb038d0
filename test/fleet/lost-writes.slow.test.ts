/**
 * The writer or the store dies during writes: no acknowledged write is lost, none is applied in part, and the rest is
 * refused with a clear message or not answered.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { adminRequest, Client } from '../support/client.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { until } from '../support/until.ts'
import { makeRewritten, type Rewritten, version, whole } from './rewritten.ts'

const SEATS = 8
const ROUNDS = 3

/** The store waits for its disk: it is to lose nothing when it crashes. */
const fleet = await startFleet(t, { gateways: 2, postgres: { fsync: true } })

t.test('kill -9 of the writer, at any moment between request and response', async (t) => {
  const [stays, dies] = [fleet.at(0), fleet.at(1)]
  const seats = await makeSeats('kept by its gateway', stays)
  const refused = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const writing = seats.map((seat) => rewrite(dies, seat, refused, () => true))
    await someInFlight(seats)
    await dies.kill()
    await Promise.all(writing)
    await whole(t, fleet, stays, seats)
    await dies.start()
  }
  t.same([...refused.keys()], [], 'a dead gateway answers nothing, and a living one refuses with 503 only')
})

t.test('PostgreSQL crashes during writes, and restarts', async (t) => {
  const seats = await makeSeats('kept by the store', fleet.first)
  const refused = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    let isUp = true
    const writing = seats.map((seat, index) => rewrite(fleet.at(index % 2), seat, refused, () => isUp))
    await someInFlight(seats)
    isUp = false
    await fleet.postgres.kill()
    await Promise.all(writing)
    await fleet.postgres.restart()
    await Promise.all([0, 1].map((index) => writesAgain(fleet.at(index))))
    await whole(t, fleet, fleet.first, seats)
  }
  t.same([...refused.keys()], [503], 'writes are refused with 503 only')
})

async function makeSeats(what: string, gateway: FleetGateway): Promise<Rewritten[]> {
  const titles = Array.from({ length: SEATS }, (_, index) => `seat ${index}, ${what}`)
  return Promise.all(titles.map((title) => makeRewritten(fleet, title, gateway)))
}

/** Each gateway recovers in its own time. */
async function writesAgain(gateway: FleetGateway): Promise<void> {
  const probe = () => version(`probe ${randomUUID()}`, 0)
  const isBack = async () => (await fleet.admin(gateway, 'POST', '/v1/seats', probe())).status === 200
  await until(isBack, () => 'the gateway does not recover')
}

/**
 * Writes until there is no response, or one that is not 2xx. A 503 ends it only once the store is down: before, a slow disk
 * keeps some writers waiting for too long. Such a write may have been committed, but never after a later one of its Seat, as
 * it holds the lock of all writes until it ends.
 */
async function rewrite(
  gateway: FleetGateway,
  seat: Rewritten,
  refused: Map<number, number>,
  isUp: () => boolean,
): Promise<void> {
  const client = new Client(gateway.port)
  try {
    for (;;) {
      const body = version(seat.title, ++seat.sent)
      const answer = await client.send('PUT', `/v1/seats/${seat.id}`, ...adminRequest(fleet.key, body))
      if (answer.status === 200) {
        seat.answered = seat.sent
        seat.acknowledged++
      } else if (answer.status !== 503 || !isUp())
        return void refused.set(answer.status, (refused.get(answer.status) ?? 0) + 1)
    }
  } catch {
    // Its gateway died before it answered.
  } finally {
    client.close()
  }
}

/** Waits until some writes have been acknowledged, two for each Seat on average; others are in flight. */
async function someInFlight(seats: readonly Rewritten[]): Promise<void> {
  const acknowledged = () => seats.reduce((sum, seat) => sum + seat.acknowledged, 0)
  const goal = acknowledged() + 2 * seats.length
  const isSo = () => acknowledged() >= goal
  await until(isSo, () => `too few writes are acknowledged: ${goal - acknowledged()} are missing`)
  await sleep(Math.random() * 30)
}
