/**
 * The message of one gateway about its write is late, and that of another gateway about a later write is not: a third gateway decides
 * on no state that has the later write and not the earlier one.
 */

import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { type Fleet, SPACE, startFleet } from './fleet.ts'

const ROUNDS = 10
const LIST = 'trainings:list'

const fleet = await startFleet(t)
const [late, prompt, asked] = [fleet.at(0), fleet.at(1), fleet.at(2)]

type Write = readonly [method: string, path: string, body?: unknown]

/** Asks from the commit of the first write until the 2xx of the second one. @returns the answers */
async function whileCrossing(
  headers: Record<string, string>,
  first: Write,
  isCommitted: (seen: Awaited<ReturnType<Fleet['admin']>>) => boolean,
  second: Write,
): Promise<Set<number>> {
  const client = new Client(asked.port)
  const statuses = new Set<number>()
  late.toRedis?.freeze()
  const written = fleet.admin(late, ...first)
  await until(async () => isCommitted(await fleet.admin(prompt, 'GET', first[1])), 'the first write')
  let isOver = false
  const asking = async () => {
    while (!isOver) statuses.add((await client.send('GET', '/v1/trainings', headers)).status)
  }
  const answered = asking()
  await fleet.admin(prompt, ...second)
  isOver = true
  await answered
  await late.toRedis?.heal()
  await written
  client.close()
  return statuses
}

/** The third gateway has read both records before. */
async function rounds(t: Test, round: (name: string) => Promise<Set<number>>, wrong: number): Promise<void> {
  for (let at = 0; at < ROUNDS; at++) t.notOk((await round(`${t.name} ${at}`)).has(wrong), `round ${at}`)
}

t.test('one Seat gains the permission, then the other one loses it: each state allows', (t) => {
  const round = async (name: string) => {
    const gains = await fleet.makeSeat(prompt, `${name} a`, { spaces: [SPACE], permissions: [] })
    const loses = await fleet.makeSeat(prompt, `${name} b`)
    const token = await fleet.token([`${SPACE}:${gains.name}`, `${SPACE}:${loses.name}`])
    const headers = { authorization: `Bearer ${token}`, space: SPACE }
    t.equal(await fleet.decidedStatusOf(asked, headers), 200)
    return whileCrossing(
      headers,
      ['PUT', `/v1/seats/${gains.id}`, { permissions: [LIST] }],
      ({ status, json }) => status === 200 && json.permissions.length > 0,
      ['PUT', `/v1/seats/${loses.id}`, { permissions: [] }],
    )
  }
  return rounds(t, round, 403)
})

t.test('a key is revoked, then its Seat gains the permission: no state allows', (t) => {
  const round = async (name: string) => {
    const seat = await fleet.makeSeat(prompt, name, { spaces: [SPACE], permissions: [] })
    const made = { name: 'crossing', seats: [seat.name] }
    const { json } = await served(() => fleet.admin(prompt, 'POST', '/v1/api-keys', made))
    const headers = { 'x-api-key': String(json.key), space: SPACE }
    t.equal(await fleet.decidedStatusOf(asked, headers), 403)
    return whileCrossing(
      headers,
      ['DELETE', `/v1/api-keys/${json.id}`],
      ({ status, json: key }) => status === 200 && key.revoked_at !== undefined,
      ['PUT', `/v1/seats/${seat.id}`, { permissions: [LIST] }],
    )
  }
  return rounds(t, round, 200)
})
