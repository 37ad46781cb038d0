/**
 * Two gateways on one PostgreSQL and one Redis: sign-ins that begin on one complete on the other, and sessions that
 * end on one end on both.
 */

import t from 'tap'
import { NAVIGATION } from './visitor.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startRedis } from '../support/servers/redis.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { startProcesses } from './processes.ts'
import type { Visitor } from './visitor.ts'

const postgres = await startPostgres(t, { fsync: false })
const redis = await startRedis(t)
const store = await postgres.createDatabase('sign_in')
const fleet = await startProcesses(t, { names: ['a', 'b'], store, redis: redis.url })

/** The same path at the other gateway, as behind a load balancer. */
function atOther(url: URL): string {
  const other = new URL(url)
  other.port = String(fleet.at(1).port)
  return other.href
}

/**
 * The same browser at the other gateway, as behind a load balancer. Browsers share cookies between the ports of a
 * host.
 */
function throughOther(visitor: Visitor, user: string): Visitor {
  return fleet.visitor(user, 1).withCookiesOf(visitor)
}

/** A sign-in at both gateways, from its beginning again if the store answers too late. */
function begunAndCompleted(user: string) {
  return served(async () => {
    const visitor = fleet.visitor(user)
    const answer = await visitor.answer()
    const other = throughOther(visitor, user)
    const { status, json } = await other.send(atOther(answer))
    return { visitor, answer, other, status, json }
  })
}

/** A browser that is signed in at the first gateway. */
async function signedIn(user: string): Promise<Visitor> {
  const visitor = fleet.visitor(user)
  const page = await visitor.page('/pages/a')
  if (page.status !== 200) throw new Error(`${page.status} ${page.body}`)
  return visitor
}

t.test('a sign-in begins on one gateway and completes on the other', async (t) => {
  fleet.user('alice', { memberOf: ['Viewer'] })
  const { visitor, answer, other, ...back } = await begunAndCompleted('alice')
  t.equal(back.status, 200)
  t.same(back.json.user.seats, ['Viewer'])
  t.equal((await visitor.send(answer.href)).status, 400, 'the sign-in is consumed on the first gateway too')
  const token = back.json.access_token
  for (const each of [visitor, other])
    t.equal((await each.ask('/v1/trainings', { token, space: 'main' })).status, 200, each.origin)

  const attacker = await fleet.visitor('alice').answer()
  t.equal(
    (await fleet.visitor('mallory', 1).send(atOther(attacker))).status,
    400,
    'another browser cannot complete it',
  )
})

t.test('one callback at two gateways at the same time: one of them accepts it', async (t) => {
  const { statuses, redeemed } = await served(async () => {
    const visitor = fleet.visitor()
    const answer = await visitor.answer()
    const other = throughOther(visitor, 'alice')
    const tokenRequests = fleet.acme.count('/token')
    const sent = [visitor.send(answer.href), other.send(atOther(answer))]
    const pages = await Promise.all([...sent, visitor.send(answer.href), other.send(atOther(answer))])
    const statuses = pages.map(({ status }) => status).toSorted()
    return { status: statuses.at(-1) ?? 0, statuses, redeemed: fleet.acme.count('/token') - tokenRequests }
  })
  t.same(statuses, [200, 400, 400, 400])
  t.equal(redeemed, 1, 'the code is redeemed once')
})

t.test('Seats that are too old: one gateway asks the provider, the other waits for its result', async (t) => {
  fleet.user('carol', { memberOf: ['Viewer'] })
  const visitor = fleet.visitor('carol')
  await served(async () => visitor.send((await visitor.answer('acme', { return_to: '/pages/a' })).href))
  // Before a gateway has read the session. There is another one if the store answered too late.
  const sql = 'UPDATE sessions SET renew_at = issued_at * 1000 WHERE sub = $1 RETURNING id'
  t.ok((await postgres.query(sql, ['"carol"'], 'sign_in')).length >= 1)
  const other = throughOther(visitor, 'carol')
  const tokenRequests = fleet.acme.count('/token')
  const asked = [visitor, other, visitor, other].map((each) => each.ask('/v1/trainings', { space: 'main' }))
  t.same(
    (await Promise.all(asked)).map(({ status }) => status),
    [200, 200, 200, 200],
  )
  t.equal(fleet.acme.count('/token') - tokenRequests, 1)
})

t.test('thirty users at once', async (t) => {
  const names = Array.from({ length: 30 }, (_, i) => `user-${i}`)
  for (const name of names) fleet.user(name, { memberOf: ['Viewer'] })
  const tokens = await Promise.all(names.map(async (name) => (await begunAndCompleted(name)).json))
  t.same(
    tokens.map(({ user }) => user?.sub),
    names,
    'each user has their own session',
  )
  t.equal(new Set(tokens.map(({ access_token }) => access_token)).size, 30)
  const { json } = await fleet.admin('GET', '/v1/seats?limit=100')
  const viewer = json.data.find((seat: { name: string }) => seat.name === 'Viewer')
  t.equal(viewer.member_count, 32)
})

t.test('logout on one gateway: the cookie is invalid on the other once the response arrives', async (t) => {
  for (let round = 0; round < 5; round++) {
    const visitor = await signedIn('alice')
    const other = throughOther(visitor, 'alice')
    t.equal((await other.ask('/v1/me')).status, 200)
    t.equal((await served(() => visitor.logout())).status, 200)
    t.match((await other.ask('/v1/me')).json, { status: 401, code: 'token_invalid' }, `round ${round}`)
  }
})

t.test('a change of a Seat at one gateway applies to sessions at the other', async (t) => {
  const body = { name: 'Brief', spaces: ['main'], permissions: ['trainings:list'] }
  const id = await fleet.seat(body)
  fleet.user('bob', { memberOf: ['Brief'] })
  const visitor = await signedIn('bob')
  const other = throughOther(visitor, 'bob')
  t.equal((await other.ask('/v1/trainings', { space: 'main' })).status, 200)
  t.equal((await fleet.admin('PUT', `/v1/seats/${id}`, { permissions: [] })).status, 200)
  t.equal((await other.ask('/v1/trainings', { space: 'main' })).status, 403)
})

t.test('refresh at either gateway; a replay at either ends the session at both', async (t) => {
  const [one, other] = [fleet.visitor('alice', 0), fleet.visitor('alice', 1)]
  const first = (await one.signIn()).json.refresh_token
  const second = (await other.refresh(first)).json.refresh_token
  const third = (await one.refresh(second)).json.refresh_token
  t.ok(third)
  t.equal((await other.refresh(first)).status, 401)
  for (const each of [one, other]) t.equal((await each.refresh(third)).status, 401, each.origin)
})

t.test(
  'one handle at both gateways at the same time: at most one succeeds, and the session ends',
  async (t) => {
    const [one, other] = [fleet.visitor('alice', 0), fleet.visitor('alice', 1)]
    const handle = (await one.signIn()).json.refresh_token
    const tokenRequests = fleet.acme.count('/token')
    const pages = await Promise.all([one, other, one, other].map((each) => each.refresh(handle)))
    const accepted = pages.filter(({ status }) => status === 200)
    t.ok(accepted.length <= 1)
    t.equal(fleet.acme.count('/token') - tokenRequests, 1, 'the provider received one request')
    for (const { json } of accepted) t.equal((await one.refresh(json.refresh_token)).status, 401)
  },
)

t.test('Redis is unavailable: no sign-in begins, and sessions stay valid', async (t) => {
  const visitor = await signedIn('alice')
  const token = (await fleet.visitor().signIn()).json
  const late = fleet.visitor()
  const answer = await late.answer()
  const tokenRequests = fleet.acme.count('/token')
  await redis.command('SAVE')
  await redis.kill()
  t.match((await fleet.visitor().begin()).json, { status: 503, code: 'unavailable' })
  t.equal((await late.send(answer.href)).status, 503, 'no sign-in completes')
  t.equal(fleet.acme.count('/token'), tokenRequests, 'its code is not redeemed')
  const signedOut = fleet.visitor('alice', 1)
  const sent = await signedOut.send(`${signedOut.origin}/pages/a`, { headers: NAVIGATION })
  t.equal(sent.status, 503, 'a browser is not redirected to the provider either')
  t.equal((await visitor.ask('/v1/me')).status, 200)
  t.equal((await throughOther(visitor, 'alice').ask('/v1/me')).status, 200)
  t.equal((await fleet.visitor().refresh(token.refresh_token)).status, 200)
  t.equal((await served(() => visitor.logout())).status, 200)
  t.equal((await throughOther(visitor, 'alice').ask('/v1/me')).status, 401)

  await redis.restart()
  const again = async () => (await fleet.visitor().begin()).status === 200
  await until(again, () => 'no sign-in begins again', { pause: 100 })
  t.equal((await late.send(answer.href)).status, 200, 'the sign-in was not consumed')
  t.equal((await fleet.visitor().signIn()).status, 200, 'sign-in works again when Redis is back')
})
