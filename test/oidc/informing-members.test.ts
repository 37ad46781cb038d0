/** What a provider sends that only informs does not decide on a sign-in; what decides is named in the log. */

import type { Test } from 'tap'
import t from 'tap'
import { HostileProvider } from './hostile-provider.ts'
import { freshWorld, seat } from './world.ts'

type Members = Record<string, unknown>

async function start(t: Test) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
  await provider.takes(world)
  const signIn = (more: Members = {}, claims: Members = {}) => provider.signIn(world, claims, more)
  return { world, provider, signIn }
}

t.test('a userinfo that cannot be read, where the ID token has what is needed', async (t) => {
  const { world, provider, signIn } = await start(t)
  const answers = [
    { status: 401, body: '', headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
    { status: 403, body: '' },
    { status: 500, body: '' },
    { body: 'eyJ.eyJ.x', headers: { 'content-type': 'application/jwt' } },
    { body: 'no JSON' },
  ]
  for (const answer of answers) {
    provider.answers.set('/userinfo', () => answer)
    t.equal((await signIn()).status, 200, JSON.stringify(answer))
    const without = await signIn({}, { memberOf: undefined })
    t.not(without.status, 200, `the Seats are not known: ${JSON.stringify(answer)}`)
  }
  const lines = world.events('userinfo_unread')
  t.equal(lines.length, answers.length)
  t.match(lines[0], { level: 'warn', tenant: 'acme', reason: /^userinfo: / })
})

t.test('a userinfo of another user is refused wherever it was asked', async (t) => {
  const { provider, signIn } = await start(t)
  provider.answers.set('/userinfo', () => ({ body: { sub: 'mallory', email: 'm@acme.example' } }))
  t.match((await signIn()).json, { status: 401, code: 'token_invalid' }, 'asked for the email address')
  t.match((await signIn({}, { memberOf: undefined })).json, { status: 401, code: 'token_invalid' })
})

t.test('members of the token response', async (t) => {
  const { world, provider, signIn } = await start(t)
  provider.answers.set('/userinfo', () => ({ body: { sub: 'alice' } }))
  const informing: Members[] = [
    { refresh_token: '' },
    { refresh_token: null },
    { expires_in: null },
    { expires_in: 'soon' },
    { expires_in: -1 },
    { scope: null },
    { scope: ['openid'] },
  ]
  for (const more of informing) t.equal((await signIn(more)).status, 200, JSON.stringify(more))
  t.notOk((await signIn({ refresh_token: '' })).json.refresh_token)
  for (const [more, member] of [
    [{ access_token: null }, 'access_token'],
    [{ access_token: '' }, 'access_token'],
    [{ refresh_token: 5 }, 'refresh_token'],
    [{ id_token: {} }, 'id_token'],
    [{ token_type: 'DPoP' }, 'token_type'],
  ] as const) {
    t.equal((await signIn(more)).status, 503, JSON.stringify(more))
    t.match(world.events('sign_in_failed').at(-1)?.reason, new RegExp(member))
  }
})

t.test('a refresh without the claim that names Seats takes them, with a warning', async (t) => {
  const { world, provider, signIn } = await start(t)
  await seat(world, 'Viewer', ['s1'])
  let userinfo: Members = { sub: 'alice', memberOf: ['Viewer'] }
  provider.answers.set('/userinfo', () => ({ body: userinfo }))
  const first = (await signIn({ refresh_token: 'an-old-refresh-token-of-alice' }, { memberOf: undefined }))
    .json
  t.same(first.user?.seats, ['Viewer'])
  provider.gives(null)
  userinfo = { sub: 'alice' }
  const second = await world.visitor().refresh(first.refresh_token)
  t.same(second.json.user?.seats, [])
  t.match(world.events('seats_claim_missing'), [{ level: 'warn', tenant: 'acme', user: 'alice' }])
})
