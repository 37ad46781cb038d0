/**
 * A gateway whose store answers late: a request that waits for the store while others write is answered as one state of the
 * store would. Each scenario is repeated until decisions were made again at that gateway, so that the writes did fall into the
 * wait of a request.
 */

import t from 'tap'
import { served } from '../support/served.ts'
import { SPACE, startFleet } from './fleet.ts'

/** ms, each way. */
const LATE = 60
const MOST_ROUNDS = 60

const fleet = await startFleet(t, { gateways: 2, proxies: ['store'] })
const [slow, writer] = [fleet.at(0), fleet.at(1)]
slow.toStore?.delay(LATE)

async function write(method: string, path: string, body: unknown): Promise<void> {
  const { status, body: text } = await served(() => fleet.admin(writer, method, path, body))
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
}

async function repeats(): Promise<number> {
  const text = await (await fetch(`${slow.ops}/metrics`)).text()
  return Number(/^seatgate_decisions_again_total\{code="changed"\} (\d+)$/m.exec(text)?.[1])
}

/** @param round gives the status of a request that began before its writes; `spread` is when they follow, in ms */
async function untilRepeated(round: (name: string, spread: number) => Promise<number>): Promise<Set<number>> {
  const statuses = new Set<number>()
  const before = await repeats()
  for (let at = 0; at < MOST_ROUNDS && (await repeats()) < before + 3; at++)
    statuses.add(await round(`${at}`, (at * 17) % (3 * LATE)))
  if ((await repeats()) === before) throw new Error('no write fell into the wait of a request')
  return statuses
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function headersOf(names: readonly string[], sub: string): Promise<Record<string, string>> {
  const entries = names.map((name) => `${SPACE}:${name}`)
  return { authorization: `Bearer ${await fleet.token(entries, sub)}`, space: SPACE }
}

t.test('a user is blocked, then the Seat gains the permission: the request is refused', async (t) => {
  const statuses = await untilRepeated(async (round, spread) => {
    const name = `Gaining ${round}`
    const { id, name: made } = await fleet.makeSeat(writer, name, { spaces: [SPACE], permissions: [] })
    const headers = await headersOf([made], `user ${round}`)
    const asked = fleet.statusOf(slow, headers)
    await wait(spread)
    await write('POST', '/v1/blocks', { user: `user ${round}` })
    await write('PUT', `/v1/seats/${id}`, { permissions: ['trainings:list'] })
    const after = await fleet.decidedStatusOf(slow, headers)
    t.equal(after, 403, 'and so is the next one')
    return asked
  })
  t.notOk(statuses.has(200), 'no state has ever allowed it')
  t.ok(statuses.has(403))
})

t.test('one write moves the permission to another Seat of the caller: the request is allowed', async (t) => {
  const statuses = await untilRepeated(async (round, spread) => {
    const names = [`From ${round}`, `To ${round}`]
    const apply = (from: string[], to: string[]) =>
      write('POST', '/v1/seats/apply', {
        seats: Object.fromEntries(
          [from, to].map((permissions, at) => [names[at], { spaces: [SPACE], permissions }]),
        ),
      })
    await apply(['trainings:list'], [])
    // In memory, as of before the move; the other Seat is read while the move happens.
    await fleet.decidedStatusOf(slow, await headersOf(names.slice(1), 'bob'))
    const asked = fleet.statusOf(slow, await headersOf(names.toReversed(), 'bob'))
    await wait(spread)
    await apply([], ['trainings:list'])
    t.equal(await fleet.decidedStatusOf(slow, await headersOf(names, 'bob')), 200)
    return asked
  })
  t.notOk(statuses.has(403), 'each state allows it')
  t.ok(statuses.has(200))
})

t.test('writes of another tenant make no decision again', async (t) => {
  const seat = await fleet.makeSeat(writer, 'Calm')
  await fleet.decidedStatusOf(slow, await headersOf([seat.name], 'carol'))
  const before = await repeats()
  let writing = true
  const written = (async () => {
    for (let at = 0; writing; at++)
      await write('POST', '/v1/seats', { name: `Noise ${at}`, spaces: ['other'], permissions: [] })
  })()
  for (let at = 0; at < 10; at++) {
    const cold = await fleet.makeSeat(writer, `Cold ${at}`)
    t.equal(await fleet.decidedStatusOf(slow, await headersOf([seat.name, cold.name], 'carol')), 200)
  }
  writing = false
  await written
  t.equal(await repeats(), before)
})
