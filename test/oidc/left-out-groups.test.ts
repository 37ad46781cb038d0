/**
 * Groups that a provider leaves out for their number, as Entra ID does: the user signs in without those Seats, the log says
 * so, and nothing is fetched from the source that the token names.
 */

import t, { type Test } from 'tap'
import { seatgateHere } from '../cli/in-process.ts'
import { listen } from '../support/listen.ts'
import { env } from '../support/world.ts'
import { createServer } from 'node:http'
import { type Claims, HostileProvider } from './hostile-provider.ts'
import { freshWorld, seat } from './world.ts'

const requests: string[] = []
const source = createServer((request, response) => {
  requests.push(request.url ?? '')
  response.setHeader('content-type', 'application/json').end('{"value":["Viewer"]}')
})
const endpoint = `http://127.0.0.1:${await listen(t, source)}/groups`

const DISTRIBUTED = {
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint, access_token: 'x' } },
}
const IMPLICIT = { hasgroups: true }

async function start(t: Test, more: Record<string, unknown> = {}) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world, { acme: { seatsClaim: 'groups', ...more } })
  await seat(world, 'Viewer', ['s1'])
  const signIn = (claims: Claims, answer: Claims = {}) =>
    provider.signIn(world, { memberOf: undefined, ...claims }, answer)
  return { world, provider, signIn }
}

t.test('signed in without the Seats, and the log says so', async (t) => {
  const { world, signIn } = await start(t)
  for (const claims of [DISTRIBUTED, IMPLICIT, { ...DISTRIBUTED, groups: null }]) {
    const before = world.events('seats_left_out').length
    const page = await signIn(claims)
    t.match([page.status, page.json.user.seats], [200, []])
    const lines = world.events('seats_left_out').slice(before)
    t.match(lines, [{ level: 'warn', tenant: 'acme', user: 'alice', request_id: String }])
    t.match(lines[0]?.['msg'], /left out the groups of a user for their number/)
  }
  t.same(world.events('seats_claim_unreadable'), [])
  t.same(requests, [], 'nothing is fetched')
})

t.test('not left out: other claims, and claims that are there', async (t) => {
  const { world, signIn } = await start(t)
  for (const [claims, seats] of [
    [{ groups: ['Viewer'], ...DISTRIBUTED }, ['Viewer']],
    [{ groups: [], hasgroups: true }, []],
    [{ _claim_names: { groupsx: 'src1' } }, []],
    [{ _claim_names: ['groups'] }, []],
    [{ hasgroups: false }, []],
    [{}, []],
  ] as const) {
    const page = await signIn(claims)
    t.match([page.status, page.json.user.seats], [200, seats], JSON.stringify(claims))
  }
  t.same(world.events('seats_left_out'), [])
})

t.test('a path, and a claim of another name', async (t) => {
  const { world, signIn } = await start(t, { seatsClaim: 'realm_access.roles' })
  await signIn({ _claim_names: { realm_access: 'src1' } })
  await signIn({ _claim_names: { 'realm_access.roles': 'src1' } })
  t.equal(world.events('seats_left_out').length, 2)
  await signIn({ hasgroups: true })
  await signIn({ _claim_names: { realm: 'src1' } })
  t.equal(world.events('seats_left_out').length, 2)
})

t.test('userinfo has the claim, or leaves it out too', async (t) => {
  const { world, provider, signIn } = await start(t)
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
  await provider.takes(world, { acme: { seatsClaim: 'groups' } })
  provider.answers.set('/userinfo', () => ({ body: { sub: 'alice', groups: ['Viewer'] } }))
  t.same((await signIn(DISTRIBUTED)).json.user.seats, ['Viewer'])
  t.same(world.events('seats_left_out'), [])
  provider.answers.set('/userinfo', () => ({ body: { sub: 'alice', ...DISTRIBUTED } }))
  t.same((await signIn({})).json.user.seats, [])
  t.equal(world.events('seats_left_out').length, 1)
  t.same(requests, [])
})

t.test('a refresh loses the Seats, and says why', async (t) => {
  const { world, provider, signIn } = await start(t)
  const refresh_token = 'a-refresh-token-of-alice'
  world.secrets.add(refresh_token)
  const page = await signIn({ groups: ['Viewer'] }, { refresh_token })
  t.same(page.json.user.seats, ['Viewer'])
  const idToken = await provider.sign(provider.claims({ memberOf: undefined, ...DISTRIBUTED }))
  world.secrets.add(idToken)
  provider.gives(idToken)
  const again = await world.visitor().refresh(page.json.refresh_token)
  t.match([again.status, again.json.user.seats], [200, []])
  t.match(world.events('seats_left_out'), [{ user: 'alice', session: String }])
  t.same(world.events('seats_claim_missing'), [])
})

t.test('validate, and bearer tokens of the provider', async (t) => {
  const { world, provider } = await start(t, { acceptProviderTokens: true })
  const token = await provider.sign(provider.claims({ memberOf: undefined, ...IMPLICIT }))
  world.secrets.add(token)
  const answer = await world
    .visitor()
    .postJson(`${world.origin}/auth/oidc/validate`, { tenant: 'acme', id_token: token })
  t.match([answer.status, answer.json.seats], [200, []])
  t.equal(world.events('seats_left_out').length, 1)
  for (let i = 0; i < 3; i++) t.equal((await world.visitor().ask('/v1/me', { token })).status, 200)
  t.match(world.events('seats_left_out')[1], { tenant: 'acme', user: 'alice' })
  t.equal(world.events('seats_left_out').length, 2, 'once, not for each request')
})

t.test('explain says it of a token of the provider', async (t) => {
  const { world, provider } = await start(t, { acceptProviderTokens: true })
  const explain = async (claims: Claims) => {
    const token = await provider.sign(provider.claims({ memberOf: undefined, ...claims }))
    world.secrets.add(token)
    const args = ['explain', 'GET', '/v1/trainings', '--space', 's1', '--token', token]
    return seatgateHere(world.gateway.folder, args, env)
  }
  const leftOut = await explain(DISTRIBUTED)
  t.match(
    leftOut.out,
    /^no_seat_in_space\n[^]*left out the\s+groups of the user for their number/,
    leftOut.err,
  )
  const whole = await explain({ groups: ['Viewer'] })
  t.match(whole.out, /^allow\n/)
  t.notMatch(whole.out, 'left out')
  const forged = await seatgateHere(
    world.gateway.folder,
    ['explain', 'GET', '/v1/trainings', '--token', `${await provider.sign(provider.claims(IMPLICIT))}x`],
    env,
  )
  t.notMatch(forged.out, 'left out')
})

t.test('explain says it of a user, and of a token of the gateway, until a sign-in with groups', async (t) => {
  const { world, signIn } = await start(t)
  const request = { method: 'GET', path: '/v1/trainings', space: 's1' }
  const explain = async () => {
    const { json } = await world.gateway.admin('POST', '/v1/access/explain', { ...request, user: 'alice' })
    return String(json.reason)
  }
  const page = await signIn(DISTRIBUTED)
  t.match(await explain(), 'left out the groups of the user for their number')
  const args = ['explain', 'GET', '/v1/trainings', '--space', 's1', '--token', page.json.access_token]
  const here = async () => (await seatgateHere(world.gateway.folder, args, env)).out
  t.match(await here(), /left out the\s+groups of the user/)
  t.equal((await signIn({ groups: ['Viewer'] })).status, 200)
  t.notMatch(await explain(), 'left out')
  t.notMatch(await here(), 'left out')
  t.equal((await signIn(IMPLICIT)).status, 200)
  t.match(await explain(), 'left out')
})
