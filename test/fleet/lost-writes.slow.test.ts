/**
 * The writer, or the store, dies amid writes: nothing that was answered 2xx is lost, nothing is half written, and the
 * rest is refused in clear words or not answered at all.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { adminRequest, type Fleet, startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { until } from '../support/servers/wait.ts'

const SEATS = 8
const ROUNDS = 4

/** One that is written over and over: name, space and permission say the same version. */
interface Rewritten {
  readonly id: string
  readonly title: string
  /** Newest version that was sent, and newest that was answered 2xx. */
  sent: number
  answered: number
}

const version = (title: string, number: number) => ({
  name: `${title} ${number}`,
  spaces: [`s${number}`],
  permissions: [`v:${number}`],
})

t.test('kill -9 of the writer, between commit and answer or wherever it is', async (t) => {
  const fleet = await startFleet(t, { gateways: 2 })
  const [stays, dies] = [fleet.at(0), fleet.at(1)]
  const seats = await makeSeats(fleet, stays)
  const refused = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const writing = seats.map((seat) => rewrite(fleet, dies, seat, refused))
    await underWay(seats)
    await dies.kill()
    await Promise.all(writing)
    await whole(t, fleet, stays, seats)
    await dies.start()
  }
  t.same([...refused.keys()], [], 'a dead gateway answers nothing')
})

t.test('PostgreSQL crashes amid writes, and comes back', async (t) => {
  const fleet = await startFleet(t, { gateways: 2, postgres: { fsync: true } })
  const seats = await makeSeats(fleet, fleet.first)
  const refused = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const writing = seats.map((seat, index) => rewrite(fleet, fleet.at(index % 2), seat, refused))
    await underWay(seats)
    await fleet.postgres.kill()
    await Promise.all(writing)
    await fleet.postgres.restart()
    const back = async () => (await fleet.admin(fleet.first, 'GET', '/v1/seats')).status === 200
    await until(back, () => 'the gateway does not find the store again')
    await whole(t, fleet, fleet.first, seats)
  }
  t.same([...refused.keys()], [503], 'what could not be written is refused, in clear words')
})

async function makeSeats(fleet: Fleet, gateway: FleetGateway): Promise<Rewritten[]> {
  const titles = Array.from({ length: SEATS }, (_, index) => `seat ${index}`)
  return Promise.all(
    titles.map(async (title) => {
      const { status, json } = await fleet.admin(gateway, 'POST', '/v1/seats', version(title, 0))
      if (status !== 200) throw new Error(`${status} ${json.detail}`)
      return { id: json.id, title, sent: 0, answered: 0 }
    }),
  )
}

/** Until a write is not answered 2xx. */
async function rewrite(
  fleet: Fleet,
  gateway: FleetGateway,
  seat: Rewritten,
  refused: Map<number, number>,
): Promise<void> {
  const client = new Client(gateway.port)
  try {
    for (;;) {
      const body = version(seat.title, ++seat.sent)
      const answer = await client.send('PUT', `/v1/seats/${seat.id}`, ...adminRequest(fleet.key, body))
      if (answer.status === 200) seat.answered = seat.sent
      else return void refused.set(answer.status, (refused.get(answer.status) ?? 0) + 1)
    }
  } catch {
    // Its gateway died before it answered.
  } finally {
    client.close()
  }
}

/** A few writes have been answered, and others are amid theirs. */
async function underWay(seats: readonly Rewritten[]): Promise<void> {
  const goal = seats.map(({ answered }) => answered + 2)
  const isSo = () => seats.every(({ answered }, index) => answered >= (goal[index] ?? 0))
  await until(isSo, () => 'nothing is written')
  await sleep(Math.random() * 30)
}

/** Each is all of one version: the newest that was answered, or one that was sent after it. */
async function whole(
  t: Test,
  fleet: Fleet,
  gateway: FleetGateway,
  seats: readonly Rewritten[],
): Promise<void> {
  let unanswered = 0
  for (const seat of seats) {
    const { name, spaces, permissions } = (await fleet.admin(gateway, 'GET', `/v1/seats/${seat.id}`)).json
    const number = Number(String(name).split(' ').at(-1))
    t.same({ name, spaces, permissions }, version(seat.title, number), `${seat.title} is of one version`)
    if (number < seat.answered || number > seat.sent)
      t.fail(`${seat.title} is of version ${number}; answered ${seat.answered}, sent ${seat.sent}`)
    if (number > seat.answered) unanswered++
    seat.sent = seat.answered = number
  }
  t.comment(`committed, and not answered: ${unanswered} of ${seats.length}`)
}
