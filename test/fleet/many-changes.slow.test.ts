/** A write with more changes than a message holds: receivers must read the feed before they acknowledge it. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { type Fleet, startFleet, TENANT } from './fleet.ts'
import { type Requester, byClient } from './answer-checker.ts'

/** A message holds 1,000 changes. */
const KEYS = 1100
const ROUNDS = 5

t.test('a Seat of 1,100 API keys is deleted', async (t) => {
  const fleet = await startFleet(t, { proxies: ['store'] })
  const requesters = fleet.gateways.map(({ port }) => {
    const client = new Client(port)
    t.teardown(() => client.close())
    return byClient(client)
  })
  /** On a busy machine an instance may lose its lease and answer 503; it must not decide wrongly. */
  const decided = async (requester: Requester, headers: Record<string, string>) => {
    const end = performance.now() + 30_000
    let answer = await requester.ask(headers)
    while (answer === 'unavailable' && performance.now() < end) answer = await requester.ask(headers)
    return answer
  }
  // Its reads of the feed are slow: one that began before the commit is in flight when the announcement arrives.
  fleet.at(1).toStore?.delay(80)
  for (let round = 0; round < ROUNDS; round++) {
    const { id, headers } = await makeSeat(t, fleet, `Shared ${round}`)
    const ask = () => Promise.all(requesters.map((requester) => decided(requester, headers)))
    t.same(await ask(), ['allow', 'allow', 'allow'])
    await sleep(Math.random() * 250)
    t.equal((await fleet.admin(fleet.first, 'DELETE', `/v1/seats/${id}`)).status, 204)
    const gone = 'no_seat_in_space'
    t.same(await ask(), [gone, gone, gone], 'every instance knows the change when the write is acknowledged')
  }
})

/** Returns the headers of one key; the others are inserted into the table, as no request uses them. */
async function makeSeat(t: Test, fleet: Fleet, name: string) {
  const body = { name, spaces: ['s1'], permissions: ['trainings:list'] }
  const seat = await fleet.admin(fleet.first, 'POST', '/v1/seats', body)
  const made = await fleet.admin(fleet.first, 'POST', '/v1/api-keys', { name, seats: [name] })
  t.same([seat.status, made.status], [200, 200])
  const { id } = seat.json
  await fleet.query(
    `WITH keys AS (
       INSERT INTO seatgate.api_keys (tenant, id, name, hash, created_by, created_at)
       SELECT $1, $2 || '.' || number, 'other', '\\x00', 'test', 0 FROM generate_series(1, $3::int) AS numbers (number)
       RETURNING id)
     INSERT INTO seatgate.api_key_seats (tenant, api_key_id, position, seat_id) SELECT $1, id, 0, $2 FROM keys`,
    [TENANT, id, KEYS],
  )
  return { id, headers: { 'x-api-key': String(made.json.key), space: 's1' } }
}
