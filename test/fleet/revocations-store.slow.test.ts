/**
 * Revocations while the store is away for an instance, and beside an instance of an older version: both are named, and the
 * list tells what a 503 leaves open, and what a client has not waited for.
 */

import t from 'tap'
import { until } from '../support/until.ts'
import { MAX_NAMED } from '../../seats-admin/store/revocation-store.ts'
import { startFleet } from './fleet.ts'
import { countsOf, type Credential, startOpenUpstream } from './open-exchanges.ts'
import { closed, partOf, Revoking, sumOf } from './revoking.ts'

const { open, upstream } = await startOpenUpstream(t)
const fleet = await startFleet(t, { upstream, proxies: ['store'] })
const { gateways, first } = fleet
const [second, third] = [fleet.at(1), fleet.at(2)]
const revoking = await Revoking.at(fleet)
/** Sessions that are made at once. */
const BATCH = 100
const REVOKED = gateways.map(() => '401 token_revoked')

/** A token of a session, of a user who has more of them than a revocation lists: the store tells of each whether it has ended. */
async function tokenOfManySessions(user: string): Promise<Credential> {
  const others = { user, providerSid: 'other', hashPerm: [] }
  for (let at = 0; at < MAX_NAMED; at += BATCH)
    await Promise.all(Array.from({ length: BATCH }, () => fleet.session(others)))
  return revoking.session(user)
}

t.test('an instance that can not ask the store about what is open says so, and cuts it later', async (t) => {
  // A machine that stands still for a second leaves the instance without a lease, so that it says nothing at all.
  const { token, exchanges, answer } = await until(async () => {
    const user = revoking.user()
    const token = await tokenOfManySessions(user)
    const exchanges = await Promise.all(gateways.map((gateway) => open(gateway, token)))
    second.toStore?.freeze()
    const { status, json: answer } = await revoking.send(first, { user })
    if (status === 200 && partOf(answer, second).how === 'acknowledged') return { token, exchanges, answer }
    await second.toStore?.heal()
    return null
  }, 'an instance that has received the revocation and can not ask the store')
  t.equal(answer.state, 'partial')
  t.equal(partOf(answer, second).cut, null)
  t.equal(answer.ended.sessions, MAX_NAMED + 1)
  t.ok(
    exchanges[1]?.every(({ isOpen }) => isOpen),
    'nothing is decided against it yet',
  )
  const others = [0, 2].flatMap((at) => exchanges[at] ?? [])
  t.same(sumOf(answer), countsOf(others))
  await Promise.all(others.map((each) => each.cut()))
  await second.toStore?.heal()
  await Promise.all((exchanges[1] ?? []).map((each) => each.cut()))
  t.same(await revoking.decisions(token), REVOKED)
})

t.test('an instance of an older version', async (t) => {
  const rows = { silent: 0, following: Number.MAX_SAFE_INTEGER }
  for (const [id, applied] of Object.entries(rows)) {
    // As a version without the later columns writes it.
    await fleet.query(
      `INSERT INTO seatgate.instances (id, name, beat, applied, seen_at) VALUES ($1, $2, 5, $3, now())`,
      [id, `older ${id}`, applied],
    )
    const user = revoking.user()
    const token = await revoking.token(user)
    const exchanges = await open(third, token)
    const { state, instances, ended } = await revoking.revoke(first, { user })
    t.equal(state, 'partial')
    t.equal(instances.length, 4)
    const how = id === 'silent' ? 'lease_ended' : 'acknowledged'
    t.match(
      instances.find((each) => each.id === id),
      { name: `older ${id}`, how, cut: null },
    )
    t.equal(ended.websockets, 1, 'of the instance that understands')
    await Promise.all(exchanges.map((each) => each.cut()))
    // One that is removed for its silence is named for a minute more.
    for (const table of ['instances', 'gone_instances'])
      await fleet.query(`DELETE FROM seatgate.${table} WHERE id = $1`, [id])
  }
  await closed(async () => ({ answer: await revoking.revoke(first, { user: revoking.user() }) }))
})

for (const [what, text] of Object.entries({
  'before it can commit': 'INSERT INTO revocations',
  'as it commits': 'COMMIT',
}))
  t.test(`503: the store is lost ${what}, and the list tells`, async (t) => {
    const user = revoking.user()
    const token = await revoking.token(user)
    t.same(
      await revoking.decisions(token),
      gateways.map(() => 'allow'),
    )
    const arrived = first.toStore?.arrival('client', text, { held: true })
    const answered = revoking.send(first, { user })
    await arrived
    await first.toStore?.cut()
    t.equal((await answered).status, 503)
    await first.toStore?.heal()
    const listed = await revoking.listed(third, `user:${user}`)
    if (what === 'before it can commit') t.same(listed, [])
    t.same(await revoking.decisions(token), listed.length === 0 ? gateways.map(() => 'allow') : REVOKED)
    for (const each of listed) t.match(each, { state: 'partial', instances: [], receipt: null })
    const { answer } = await closed(async () => ({ answer: await revoking.revoke(second, { user }) }))
    t.same(await revoking.decisions(token), REVOKED, 'repeated')
    t.equal((await revoking.listed(third, `user:${user}`))[0]?.id, answer.id)
  })

t.test('an answer that its client does not wait for is stored', async (t) => {
  const user = revoking.user()
  const token = await revoking.token(user)
  const exchanges = (await Promise.all(gateways.map((gateway) => open(gateway, token)))).flat()
  const stores = first.toStore?.arrival('client', 'UPDATE revocations', { held: true })
  const hangUp = revoking.begin(first, { user })
  await stores
  hangUp()
  await first.toStore?.heal()
  await Promise.all(exchanges.map((each) => each.cut()))
  t.same(await revoking.decisions(token), REVOKED)
  const answer = await until(async () => {
    const [listed] = await revoking.listed(third, `user:${user}`)
    return listed?.instances.length === 3 && listed
  }, 'the answer')
  if (answer.state === 'closed') t.same(sumOf(answer), countsOf(exchanges))
  for (const gateway of gateways) t.strictSame(await revoking.stored(gateway, answer.id), answer)
})
