/** Rate limits through a whole gateway. Limits are an hour's, so that what passes does not depend on time. */

import { parseList } from 'structured-headers'
import t, { type Test } from 'tap'
import { until } from '../support/until.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'
import { metricsOf } from '../support/operations.ts'

const TOP = [
  'rate_limits:',
  '  reads: { limit: 4/h, burst: 3 }',
  '  address: { limit: 2/h, burst: 2, per: address }',
  '  tenant: { limit: 2/h, burst: 2, per: tenant }',
  '  route: { limit: 2/h, burst: 2, per: route }',
  '  wide: { limit: 600/m, burst: 100 }',
]
const ROUTES = [
  'GET /reads: { permission: trainings:list, rate_limit: [reads] }',
  'GET /reads/{id}: { permission: trainings:list, rate_limit: [reads] }',
  'GET /tenant: { permission: authenticated, rate_limit: [tenant] }',
  'GET /one: { permission: authenticated, rate_limit: [route] }',
  'GET /other: { permission: authenticated, rate_limit: [route] }',
  'GET /owned: { permission: authenticated, tenant: acme, rate_limit: [route] }',
  'GET /open: { permission: public, rate_limit: [reads] }',
  'GET /address: { permission: authenticated, rate_limit: [address] }',
  'GET /both: { permission: authenticated, rate_limit: [wide, reads] }',
  'GET /wide: { permission: authenticated, rate_limit: [wide] }',
  'GET /free: authenticated',
]

async function limited(t: Test, more: WorldOptions = {}): Promise<World> {
  const world = await startWorld(t, { routes: ROUTES, ...more, top: [...TOP, ...(more.top ?? [])] })
  await world.seat('Reader', ['main'], ['trainings:list'])
  return world
}

/** Of all tests but one: each has users and limits of its own. */
const world = await limited(t)

const tokenOf = async (world: World, sub: string, seats = ['main:Reader']) => ({
  authorization: `Bearer ${await world.token(seats, { sub })}`,
  space: 'main',
})

async function statuses(world: World, path: string, headers: Record<string, string>, times: number) {
  const found: number[] = []
  for (let i = 0; i < times; i++) found.push((await world.client.send('GET', path, headers)).status)
  return found
}

/** Name → parameters. */
function fieldOf(value: unknown): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    parseList(String(value)).map(([name, parameters]) => [name, Object.fromEntries(parameters)]),
  )
}

t.test('the burst passes, then 429 with all that the client needs to know', async (t) => {
  const headers = await tokenOf(world, 'burst')
  const first = await world.client.send('GET', '/reads', headers)
  t.equal(first.status, 200)
  t.same(fieldOf(first.headers['ratelimit-policy']), { reads: { q: 4, w: 3600 } })
  t.match(fieldOf(first.headers['ratelimit']), { reads: { r: 2 } })
  t.same(await statuses(world, '/reads/7', headers, 2), [200, 200], 'one budget of all routes that name it')
  const over = await world.client.send('GET', '/reads', headers)
  t.equal(over.status, 429)
  t.match(over.json, { type: 'urn:seatgate:rate_limited', code: 'rate_limited', status: 429 })
  const wait = Number(over.headers['retry-after'])
  t.ok(wait > 800 && wait <= 900, 'a token is added every 15 minutes')
  t.same(fieldOf(over.headers['ratelimit-policy']), { reads: { q: 4, w: 3600 } })
  t.same(fieldOf(over.headers['ratelimit']), { reads: { r: 0, t: wait } })
  t.equal(world.upstream.seen.length, 3, 'the refused request reached no upstream')
  const refusedLine = () => world.log().find(({ status }) => status === 429)
  await until(() => refusedLine() !== undefined, 'the line')
  t.match(refusedLine(), { status: 429, code: 'rate_limited', rate_limited: 'reads', decision: 'allow' })
  const metrics = await metricsOf(world)
  t.match(metrics, /^seatgate_rate_limited_total\{limit="reads"\} 1$/m)
})

t.test('each caller has a budget: users, and API keys by their id', async (t) => {
  t.same(await statuses(world, '/reads', await tokenOf(world, 'alice'), 4), [200, 200, 200, 429])
  t.same(await statuses(world, '/reads', await tokenOf(world, 'bob'), 1), [200])
  const again = await tokenOf(world, 'alice')
  t.same(await statuses(world, '/reads', again, 1), [429], 'another token of the same user')
  const key = { 'x-api-key': world.keys['acme'] ?? '', space: 'admin' }
  t.same(await statuses(world, '/both', key, 4), [200, 200, 200, 429])
})

t.test('per tenant and per route', async (t) => {
  const [alice, bob] = [await tokenOf(world, 't'), await tokenOf(world, 'bob')]
  t.same(await statuses(world, '/tenant', alice, 1), [200])
  t.same(await statuses(world, '/tenant', bob, 2), [200, 429])
  const other = { authorization: `Bearer ${await world.token([], { tenant: 'globex' })}` }
  t.equal((await world.client.send('GET', '/tenant', other)).status, 200)
  t.same(await statuses(world, '/one', alice, 2), [200, 200])
  t.same(await statuses(world, '/one', bob, 1), [429])
  t.same(await statuses(world, '/other', bob, 1), [200], 'another route has its own')
})

t.test('callers of another tenant do not use up what a route has for its own', async (t) => {
  const foreign = { authorization: `Bearer ${await world.token([], { tenant: 'globex' })}` }
  t.same(await statuses(world, '/owned', foreign, 3), [403, 403, 403])
  t.same(await statuses(world, '/owned', await tokenOf(world, 'owner'), 3), [200, 200, 429])
})

t.test('on a public route a caller is its address', async (t) => {
  t.same(await statuses(world, '/open', {}, 4), [200, 200, 200, 429])
  t.same(
    await statuses(world, '/reads', await tokenOf(world, 'public'), 1),
    [200],
    'a caller with a credential is not',
  )
})

t.test('401 comes before 429 and costs nothing; 403 costs a token', async (t) => {
  t.same(await statuses(world, '/reads', { space: 'main' }, 5), [401, 401, 401, 401, 401])
  const denied = await tokenOf(world, 'mallory', [])
  t.same(await statuses(world, '/reads', denied, 4), [403, 403, 403, 429])
  t.same(await statuses(world, '/reads', await tokenOf(world, 'fine'), 1), [200])
})

t.test('several limits: a token of each, or none at all', async (t) => {
  const headers = await tokenOf(world, 'several')
  t.same(await statuses(world, '/both', headers, 3), [200, 200, 200])
  const over = await world.client.send('GET', '/both', headers)
  t.equal(over.status, 429)
  const before = fieldOf(over.headers['ratelimit'])
  t.equal(before['reads']?.['r'], 0)
  for (let i = 0; i < 20; i++) await world.client.send('GET', '/both', headers)
  const wide = await world.client.send('GET', '/wide', headers)
  t.ok(
    Number(fieldOf(wide.headers['ratelimit'])['wide']?.['r']) >= 96,
    'refusals took none of the other limit',
  )
})

t.test('other requests have no such fields, and keep those of the upstream', async (t) => {
  const world = await limited(t, {
    answer: (_request, response) => {
      response.setHeader('RateLimit', '"theirs";r=1')
      response.setHeader('RateLimit-Policy', '"theirs";q=1')
      response.end()
    },
  })
  const headers = await tokenOf(world, 'other')
  t.equal((await world.client.send('GET', '/free', headers)).headers['ratelimit'], '"theirs";r=1')
  const limitedResponse = await world.client.send('GET', '/wide', headers)
  t.same(Object.keys(fieldOf(limitedResponse.headers['ratelimit'])), ['wide'])
  t.same(Object.keys(fieldOf(limitedResponse.headers['ratelimit-policy'])), ['wide'])
})

t.test('a reload keeps the buckets', async (t) => {
  const headers = await tokenOf(world, 'reload')
  t.same(await statuses(world, '/reads', headers, 4), [200, 200, 200, 429])
  await world.reload()
  t.same(await statuses(world, '/reads', headers, 1), [429])
})
