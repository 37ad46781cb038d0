/**
 * What providers publish and send that is unusual. What is clear, or only informs, does not decide on a sign-in: members that
 * are null, keys that share a name, a discovery document behind the redirect of a framework that appends or removes a trailing
 * slash. What decides is named in the log. No other redirect is followed.
 */

import t from 'tap'
import { HostileProvider } from './hostile-provider.ts'
import { freshWorld, seat } from './world.ts'
import type { Test } from 'tap'

t.test('members of the discovery document that are null', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  Object.assign(provider.metadata, {
    userinfo_endpoint: null,
    end_session_endpoint: null,
    token_endpoint_auth_methods_supported: null,
    authorization_response_iss_parameter_supported: null,
    code_challenge_methods_supported: null,
  })
  await provider.takes(world)
  const page = await provider.signIn(world)
  t.equal(page.status, 200)
  Object.assign(provider.metadata, { token_endpoint: null })
  await provider.takes(world)
  t.match((await world.visitor().begin()).json, { status: 503 }, 'what sign-in needs')
})

t.test('two keys with one kid', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.newKey('same')
  const first = provider.key
  await provider.newKey('same')
  await provider.takes(world)
  const signIn = () => provider.signIn(world)
  t.equal((await signIn()).status, 200, 'the second key')
  provider.key = first
  t.equal((await signIn()).status, 200, 'the first key')
  const other = await HostileProvider.start(t)
  provider.key = other.key
  t.not((await signIn()).status, 200, 'another key under that name')
})

const DISCOVERY = '/.well-known/openid-configuration'

t.test('a redirect to the same address with a trailing slash added or removed', async (t) => {
  const world = await freshWorld()
  for (const status of [301, 302, 303, 307, 308])
    for (const absolute of [true, false]) {
      const provider = await HostileProvider.start(t)
      const document = provider.answers.get(DISCOVERY)
      if (document === undefined) throw new Error('no discovery')
      provider.answers.set(`${DISCOVERY}/`, document)
      const location = `${absolute ? provider.issuer : ''}${DISCOVERY}/`
      provider.answers.set(DISCOVERY, () => ({ status, headers: { location }, body: '' }))
      await provider.takes(world)
      t.equal((await world.visitor().begin()).status, 200, `${status} ${location}`)
      const page = await provider.signIn(world)
      t.equal(page.status, 200)
    }
})

t.test('one redirect only', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  const redirect = (location: string) => () => ({ status: 301, headers: { location }, body: '' })
  provider.answers.set(DISCOVERY, redirect(`${DISCOVERY}/`))
  provider.answers.set(`${DISCOVERY}/`, redirect(DISCOVERY))
  await provider.takes(world)
  t.match((await world.visitor().begin()).json, { status: 503, code: 'unavailable' })
  t.equal(provider.count(DISCOVERY), 1)
  t.equal(provider.count(`${DISCOVERY}/`), 1)
})

t.test('a redirect to any other address', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  const elsewhere = await HostileProvider.start(t)
  const document = provider.answers.get(DISCOVERY)
  if (document === undefined) throw new Error('no discovery')
  const { host } = new URL(provider.issuer)
  const paths = [`${DISCOVERY}/`, `${DISCOVERY}//`, '/x', '/', '/.well-known/', `${DISCOVERY}/x`]
  for (const path of paths) {
    provider.answers.set(path, document)
    elsewhere.answers.set(path, document)
  }
  for (const location of [
    `${elsewhere.issuer}${DISCOVERY}/`,
    `http://user@${host}${DISCOVERY}/`,
    `http://localhost:${new URL(provider.issuer).port}${DISCOVERY}/`,
    `https://${host}${DISCOVERY}/`,
    `${DISCOVERY}//`,
    `${DISCOVERY}/?x`,
    `${DISCOVERY}/#x`,
    `${DISCOVERY}/x`,
    '/x',
    '',
    'http://[',
  ]) {
    provider.answers.set(DISCOVERY, () => ({ status: 302, headers: { location }, body: '' }))
    await provider.takes(world)
    t.match((await world.visitor().begin()).json, { status: 503, code: 'unavailable' }, location)
  }
  for (const path of paths) t.equal(provider.count(path), 0, path)
  t.equal(elsewhere.requestCounts.size, 0)
})

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
