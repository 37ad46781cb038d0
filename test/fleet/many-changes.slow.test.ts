/** A write with more changes than a message holds: receivers must read the feed before they acknowledge it. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Client } from '../support/client.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
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
  let seats = 0
  const isDeleted = async () => {
    const { id, headers } = await makeSeat(fleet, `Shared ${++seats}`)
    const ask = () => Promise.all(requesters.map((requester) => decided(requester, headers)))
    t.same(await ask(), ['allow', 'allow', 'allow'])
    await sleep(Math.random() * 250)
    const { status } = await fleet.admin(fleet.first, 'DELETE', `/v1/seats/${id}`)
    // Nothing is promised about a deletion that a busy machine refuses with 503: it may be repeated with another Seat only.
    if (status === 503) return false
    t.equal(status, 204)
    const gone = 'no_seat_in_space'
    t.same(await ask(), [gone, gone, gone], 'every instance knows the change when the write is acknowledged')
    return true
  }
  for (let round = 0; round < ROUNDS; round++)
    await until(isDeleted, 'a deletion that is not refused with 503')
})

/** Returns the headers of one key; the others are inserted into the table, as no request uses them. */
async function makeSeat(fleet: Fleet, wanted: string) {
  const { id, name } = await fleet.makeSeat(fleet.first, wanted)
  let tries = 0
  const key = () => ({ name: `${name}, key ${++tries}`, seats: [name] })
  const made = await served(() => fleet.admin(fleet.first, 'POST', '/v1/api-keys', key()))
  if (made.status !== 200) throw new Error(`${made.status} ${made.body}`)
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
