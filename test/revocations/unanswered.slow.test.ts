/** PostgreSQL goes away between a revocation and its answer, and instances go away after it. */

import t from 'tap'
import { startFleet } from '../fleet/fleet.ts'
import { served } from '../support/served.ts'
import { NONE, outcome, REVOCATIONS } from './support.ts'

const fleet = await startFleet(t, { gateways: 2, proxies: ['store'] })
const [first, second] = [fleet.first, fleet.at(1)]
const { name } = await fleet.makeSeat(first, 'Viewer')

async function bearer(sub: string): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await fleet.token([`s1:${name}`], sub)}`, space: 's1' }
}

const read = (path: string) => served(() => fleet.admin(second, 'GET', path))

t.test('the store is away when the answer is stored: 503, and the list says partial', async (t) => {
  const headers = await bearer('alice')
  for (const each of [first, second]) t.equal(await fleet.decidedStatusOf(each, headers), 200)
  const atAnswer = first.toStore?.arrival('client', 'UPDATE revocations', { held: true })
  const answered = fleet.admin(first, 'POST', REVOCATIONS, { subject: { user: 'alice' } })
  await atAnswer
  await first.toStore?.cut()
  t.equal(outcome(await answered), '503 unavailable')
  await first.toStore?.heal()
  const { data } = (await read(`${REVOCATIONS}?subject=user:alice`)).json
  t.equal(data.length, 1)
  const [made] = data
  t.match(made, { subject: { user: 'alice' }, state: 'partial', ended: NONE, receipt: null })
  t.same(made.instances, [])
  t.strictSame((await read(`${REVOCATIONS}/${made.id}`)).json, made)
  for (const each of [first, second]) t.equal(await fleet.decidedStatusOf(each, headers), 401)

  const repeated = await served(() => fleet.admin(first, 'POST', REVOCATIONS, { subject: { user: 'alice' } }))
  t.not(repeated.json.id, made.id)
  t.equal(repeated.json.instances.length, 2)
  t.strictSame((await read(`${REVOCATIONS}/${made.id}`)).json, made, 'the first one stays as it was')
})

t.test('a stored answer stays, whatever becomes of the instances', async (t) => {
  const { json: answer } = await served(() =>
    fleet.admin(first, 'POST', REVOCATIONS, { subject: { user: 'bob' }, reason: 'a test' }),
  )
  t.equal(answer.instances.length, 2)
  t.equal(answer.instances.filter(({ how }: { how: string }) => how === 'acknowledged').length, 2)
  await first.kill()
  t.strictSame((await read(`${REVOCATIONS}/${answer.id}`)).json, answer)
})
