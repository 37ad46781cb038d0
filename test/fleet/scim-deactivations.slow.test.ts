/**
 * Deactivations by SCIM in a fleet of three on PostgreSQL: from the answer on, no instance accepts a cookie,
 * token, refresh token or owned API key of the user. While an instance is frozen, the answer is 503, and the
 * repetition succeeds.
 */

import t, { type Test } from 'tap'
import { outcome } from '../revocations/support.ts'
import { BASE, TOKEN, USER } from '../scim/support.ts'
import { startProcesses } from '../sign-in/processes.ts'
import type { Visitor } from '../sign-in/visitor.ts'
import { type Answer, Client } from '../support/client.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startRedis } from '../support/servers/redis.ts'
import { served } from '../support/served.ts'
import { startFleet } from './fleet.ts'
import { startOpenUpstream } from './open-exchanges.ts'
import { Revoking } from './revoking.ts'

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'

const acme = [`scim: { token: ${TOKEN} }`]

/** A request of the provider to one instance. */
async function provide(port: number, method: string, path: string, body?: object): Promise<Answer> {
  const client = new Client(port)
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' }
  try {
    return await client.send(
      method,
      BASE + path,
      headers,
      body === undefined ? undefined : JSON.stringify(body),
    )
  } finally {
    client.close()
  }
}

/** @returns the id of the new user */
async function create(port: number, userName: string, externalId: string): Promise<string> {
  const { status, body, json } = await served(async () => {
    const answer = await provide(port, 'POST', '/Users', { schemas: [USER], userName, externalId })
    // A 503 leaves it open whether the user was made.
    return answer.status === 409 ? find(port, userName) : answer
  })
  if (status !== 201 && status !== 200) throw new Error(`${status} ${body}`)
  return json.id ?? json.Resources[0].id
}

function find(port: number, userName: string): Promise<Answer> {
  return provide(port, 'GET', `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`)
}

const deactivate = (port: number, id: string) =>
  provide(port, 'PATCH', `/Users/${id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] })

async function signedIn(t: Test, hasRedis: boolean) {
  const postgres = await startPostgres(t, { fsync: false })
  const redis = hasRedis ? (await startRedis(t)).url : null
  const store = await postgres.createDatabase('scim')
  const fleet = await startProcesses(t, { names: ['a', 'b', 'c'], store, redis, more: acme })
  const { gateways } = fleet
  fleet.secrets.add(TOKEN)
  const through = (visitor: Visitor, at: number) => fleet.visitor('alice', at).withCookiesOf(visitor)
  return {
    fleet,
    ports: gateways.map(({ port }) => port),
    /** A new user with a browser, three programs and an API key, and what each instance says of these. */
    async newUser(name: string) {
      fleet.user(name, { memberOf: ['Viewer'] })
      const page = fleet.visitor(name)
      await page.page('/pages/a')
      const tools: { access_token: string; refresh_token: string; user: { sub: string } }[] = []
      for (const _ of gateways) tools.push((await fleet.visitor(name).signIn()).json)
      const sub = tools[0]?.user.sub ?? ''
      const { json } = await fleet.admin('POST', '/v1/api-keys', { name, seats: ['Viewer'], owner: sub })
      const { key } = json
      const worth = () =>
        Promise.all(
          gateways.map(async ({ port }, at) => {
            const client = new Client(port)
            const byKey = await served(() => client.send('GET', '/v1/me', { 'x-api-key': key }))
            client.close()
            const { access_token: token = '', refresh_token: handle = '' } = tools[at] ?? {}
            return [
              outcome(await through(page, at).ask('/v1/me')),
              outcome(await fleet.visitor(name, at).ask('/v1/me', { token })),
              outcome(byKey),
              outcome(await served(() => fleet.visitor(name, at).refresh(handle))),
            ]
          }),
        )
      return { sub, worth }
    },
  }
}

const ENDED = ['401 token_revoked', '401 token_revoked', '401 api_key_revoked', '401 token_revoked']

for (const hasRedis of [true, false])
  t.test(hasRedis ? 'with Redis' : 'without Redis', async (t) => {
    const { fleet, ports, newUser } = await signedIn(t, hasRedis)
    const bystander = await newUser('bystander')
    for (const [at, port] of ports.entries()) {
      // Where it is sent to makes no difference without Redis either: once is enough.
      if (!hasRedis && at !== 1) continue
      const name = `leaver${at}`
      const { sub, worth } = await newUser(name)
      const id = await create(port, `${name}@acme.example`, sub)
      const { status, json } = await served(() => deactivate(port, id))
      t.match([status, json.active], [200, false])
      t.same(await worth(), [ENDED, ENDED, ENDED], `deactivated at ${fleet.at(at).name}`)
      t.equal(outcome(await fleet.visitor(name).signIn()), '403 caller_blocked')
    }
    t.same(new Set((await bystander.worth()).flat()), new Set(['allow']))
  })

t.test('an instance is frozen', async (t) => {
  const { open, upstream } = await startOpenUpstream(t)
  const fleet = await startFleet(t, { upstream, proxies: ['store'], acme })
  const { first } = fleet
  const revoking = await Revoking.at(fleet)
  const third = fleet.at(2)
  const user = revoking.user()
  const token = await revoking.token(user)
  const exchanges = await open(third, token)
  const id = await create(first.port, user, user)
  await third.freeze()
  const answer = await deactivate(first.port, id)
  t.match(answer, { status: 503, headers: { 'retry-after': '2' }, json: { status: '503' } })
  t.same(await revoking.decisions(token, [first, fleet.at(1)]), ['401 token_revoked', '401 token_revoked'])
  t.ok(
    exchanges.some(({ isOpen }) => isOpen),
    'what it has open is still open',
  )
  third.thaw()
  const repeated = await served(() => deactivate(first.port, id))
  t.match(repeated, { status: 200, json: { active: false } })
  await Promise.all(exchanges.map((each) => each.cut()))
  t.same(new Set(await revoking.decisions(token)), new Set(['401 token_revoked']))
  const [latest, before] = await revoking.listed(first, `user:${user}`)
  t.same([latest?.state, before?.state], ['closed', 'partial'])

  await t.test('a deletion, and its repetition', async (t) => {
    const leaver = revoking.user()
    const token = await revoking.token(leaver)
    const exchanges = await open(third, token)
    const id = await create(first.port, leaver, leaver)
    const remove = () => provide(first.port, 'DELETE', `/Users/${id}`)
    await third.freeze()
    t.match(await remove(), { status: 503, headers: { 'retry-after': '2' } })
    t.match((await find(first.port, leaver)).json, { Resources: [{ id, active: false }] }, 'it is not made')
    t.ok(exchanges.some(({ isOpen }) => isOpen))
    third.thaw()
    t.equal((await served(remove)).status, 204)
    await Promise.all(exchanges.map((each) => each.cut()))
    t.same(new Set(await revoking.decisions(token)), new Set(['401 token_revoked']))
    const [latest, before] = await revoking.listed(first, `user:${leaver}`)
    t.same([latest?.state, before?.state], ['closed', 'partial'])
    t.equal((await remove()).status, 404)
  })

  await t.test('another externalId, and its repetition', async (t) => {
    const former = revoking.user()
    const token = await revoking.token(former)
    const exchanges = await open(third, token)
    const id = await create(first.port, former, former)
    const move = () => {
      const value = `${former}-moved`
      return provide(first.port, 'PATCH', `/Users/${id}`, {
        Operations: [{ op: 'replace', path: 'externalId', value }],
      })
    }
    await third.freeze()
    t.match(await move(), { status: 503, headers: { 'retry-after': '2' } })
    t.equal((await move()).status, 503, 'the repetition, as the instance is still silent')
    t.ok(exchanges.some(({ isOpen }) => isOpen))
    third.thaw()
    t.match(await served(move), { status: 200, json: { externalId: `${former}-moved` } })
    await Promise.all(exchanges.map((each) => each.cut()))
    t.same(new Set(await revoking.decisions(token)), new Set(['401 token_revoked']))
    const [latest, ...before] = await revoking.listed(first, `user:${former}`)
    t.equal(latest?.state, 'closed')
    t.same(new Set(before.map(({ state }) => state)), new Set(['partial']))
    t.equal((await move()).status, 200)
    t.equal(
      (await revoking.listed(first, `user:${former}`)).length,
      before.length + 1,
      'there is nothing left',
    )
  })

  await t.test('the store is away', async (t) => {
    const other = await create(first.port, 'other', 'other')
    await first.toStore?.cut()
    for (const answer of [await find(first.port, 'other'), await deactivate(first.port, other)])
      t.match(answer, { status: 503, json: { schemas: [ERROR], status: '503' } })
    await first.toStore?.heal()
    t.match((await served(() => deactivate(first.port, other))).json, { active: false })
  })
})
