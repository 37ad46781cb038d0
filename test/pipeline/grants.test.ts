/** Grants with an end, at a gateway: what a 2xx has answered holds for the next request. */

import t from 'tap'
import { startWorld } from '../support/world.ts'

const HOUR = 3_600_000

t.test('a grant counts from its 200 on, and no more after its 204', async (t) => {
  const world = await startWorld(t)
  await world.seat('Viewer', ['main'], ['trainings:list'])
  await world.seat('Elsewhere', ['dev'], ['trainings:list'])
  const token = await world.token([], { sub: 'eve' })
  const other = await world.token([], { sub: 'Eve' })
  const of = async (bearer: string, space = 'main') =>
    (await world.client.send('GET', '/v1/trainings', { authorization: `Bearer ${bearer}`, space })).status
  const at = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()
  const grant = async (seat: string, times = {}) => {
    const body = { user: 'eve', seat, until: at(HOUR), ...times }
    const { status, json } = await world.admin('POST', '/v1/grants', body)
    t.equal(status, 200, JSON.stringify(json))
    return json.id as string
  }
  const end = async (id: string) => t.equal((await world.admin('DELETE', `/v1/grants/${id}`)).status, 204)
  t.equal(await of(token), 403)
  for (let round = 0; round < 5; round++) {
    const id = await grant('Viewer')
    t.equal(await of(token), 200)
    t.same([await of(other), await of(token, 'dev')], [403, 403], 'of this user, in the spaces of the Seat')
    await end(id)
    t.equal(await of(token), 403)
  }
  const [first, second] = [await grant('Viewer'), await grant('Viewer')]
  await end(first)
  t.equal(await of(token), 200, 'another grant stays')
  await end(second)
  await grant('Viewer', { from: at(HOUR), until: at(2 * HOUR) })
  t.equal(await of(token), 403, 'it begins later')
  await grant('Elsewhere')
  t.same([await of(token), await of(token, 'dev')], [403, 200])
  const { id } = (await world.admin('GET', '/v1/seats')).json.data.find(
    ({ name }: { name: string }) => name === 'Elsewhere',
  )
  t.equal((await world.admin('DELETE', `/v1/seats/${id}`)).status, 204)
  t.equal(await of(token, 'dev'), 403, 'the Seat takes its grants with it')
})

t.test('an administrator of one space grants what the administrator has, there alone', async (t) => {
  const world = await startWorld(t)
  const rights = ['grants:create', 'grants:list', 'grants:delete']
  await world.seat('Lead', ['main'], ['trainings:list', ...rights])
  await world.seat('Viewer', ['main'], ['trainings:list'])
  await world.seat('Owner', ['main'], ['*'])
  await world.seat('Wide', ['main', 'dev'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['main:Lead'])}`, space: 'main' }
  const until = new Date(Date.now() + HOUR).toISOString()
  const grant = (seat: string, user = 'eve') =>
    world.client.send(
      'POST',
      '/v1/grants',
      { ...headers, 'content-type': 'application/json' },
      JSON.stringify({ user, seat, until }),
    )
  t.match((await grant('Viewer')).json, { user: 'eve', seat: 'Viewer' })
  t.match((await grant('Owner')).json, { status: 403, code: 'grant_exceeds_own' })
  t.match((await grant('Wide')).json, { status: 400, code: 'input_invalid' })
  t.match((await grant('admin')).json, { status: 400, code: 'input_invalid' })
  const { data } = (await world.client.send('GET', '/v1/grants', headers)).json
  t.match(data, [{ seat: 'Viewer' }])
  t.equal(data.length, 1)
  t.match((await world.client.send('GET', '/v1/grants?stray=1', headers)).json, { code: 'input_invalid' })
  const lister = { authorization: `Bearer ${await world.token(['main:Viewer'])}`, space: 'main' }
  for (const [method, path] of [
    ['GET', '/v1/grants'],
    ['DELETE', `/v1/grants/${data[0].id}`],
  ] as const)
    t.match((await world.client.send(method, path, lister)).json, { code: 'permission_denied' })
  t.equal((await world.client.send('DELETE', `/v1/grants/${data[0].id}`, headers)).status, 204)
})

t.test('what a caller holds by a grant can be passed on until its end, and no longer', async (t) => {
  const world = await startWorld(t)
  const rights = ['grants:create', 'api-keys:create']
  await world.seat('Lead', ['main'], ['trainings:create', ...rights])
  await world.seat('Viewer', ['main'], ['trainings:list'])
  await world.seat('Creator', ['main'], ['trainings:list', 'trainings:create'])
  await world.seat('Owner', ['main'], ['*'])
  const at = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()
  const end = at(HOUR)
  const give = async (user: string, seat: string) =>
    t.equal((await world.admin('POST', '/v1/grants', { user, seat, until: end })).status, 200)
  const caller = async (sub: string) => {
    const headers = {
      authorization: `Bearer ${await world.token(['main:Viewer'], { sub })}`,
      ...{ space: 'main', 'content-type': 'application/json' },
    }
    const post = async (path: string, body: object) => {
      const { status, json } = await world.client.send('POST', path, headers, JSON.stringify(body))
      return status === 200 ? 'made' : json.code
    }
    return {
      grant: (seat: string, until: string) => post('/v1/grants', { user: sub, seat, until }),
      key: (seat: string, more = {}) => post('/v1/api-keys', { name: 'k', seats: [seat], ...more }),
    }
  }
  await give('lead', 'Lead')
  const lead = await caller('lead')
  t.equal(await lead.grant('Lead', at(2 * HOUR)), 'grant_exceeds_own', 'the own grant for longer')
  t.equal(await lead.grant('Creator', at(2 * HOUR)), 'grant_exceeds_own', 'a part of it for longer')
  t.equal(await lead.grant('Viewer', at(2 * HOUR)), 'made', 'what a Seat of the sign-in holds')
  t.equal(await lead.grant('Creator', end), 'made')
  t.equal(await lead.grant('Lead', end), 'made')
  t.equal(await lead.key('Creator'), 'grant_exceeds_own', 'a key without an end')
  t.equal(await lead.key('Creator', { expires_at: at(2 * HOUR) }), 'grant_exceeds_own')
  t.equal(await lead.key('Creator', { expires_at: end }), 'made')
  t.equal(await lead.key('Viewer'), 'made')
  await give('owner', 'Owner')
  const owner = await caller('owner')
  t.equal(await owner.grant('Owner', at(2 * HOUR)), 'grant_exceeds_own')
  t.equal(await owner.key('Owner'), 'grant_exceeds_own')
  t.equal(await owner.grant('Owner', end), 'made')
  t.equal(await owner.key('Owner', { expires_at: end }), 'made')
})

t.test('to end a grant needs grants:delete alone', async (t) => {
  const world = await startWorld(t)
  await world.seat('Owner', ['main'], ['*'])
  await world.seat('Ender', ['admin'], ['grants:delete'])
  const until = new Date(Date.now() + HOUR).toISOString()
  const body = { user: 'eve', seat: 'Owner', until }
  const { id } = (await world.admin('POST', '/v1/grants', body)).json
  const { key } = (await world.admin('POST', '/v1/api-keys', { name: 'ender', seats: ['Ender'] })).json
  const send = (method: string, path: string, sent?: string) =>
    world.client.send(
      method,
      path,
      {
        'x-api-key': key,
        space: 'admin',
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      sent,
    )
  t.match((await send('POST', '/v1/grants', JSON.stringify(body))).json, { code: 'permission_denied' })
  t.equal((await send('DELETE', `/v1/grants/${id}`)).status, 204)
  t.same((await world.admin('GET', '/v1/grants')).json.data, [])
})
