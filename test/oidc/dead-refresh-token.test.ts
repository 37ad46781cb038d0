/**
 * A refresh token that the provider rejects ends the session. A provider that is unavailable, or that rejects the client, ends
 * no session. A replayed handle ends the whole session, so that a stolen handle and its successor are both worthless.
 */

import type { Test } from 'tap'
import t from 'tap'
import { moveClock } from '../sign-in/moving-clock.ts'
import { HostileProvider } from './hostile-provider.ts'
import { announced, endedByProvider, endsInAudit, freshWorld, HOUR } from './world.ts'

const clock = moveClock(t)

type Answer = Parameters<HostileProvider['answers']['set']>[1]

const ENDS: Readonly<Record<string, Answer>> = {
  invalid_grant: () => ({ status: 400, body: { error: 'invalid_grant' } }),
  invalid_request: () => ({ status: 400, body: { error: 'invalid_request' } }),
  'an error of its own': () => ({ status: 400, body: { error: 'refresh_token_revoked' } }),
  '401 and invalid_token': () => ({ status: 401, body: { error: 'invalid_token' } }),
  'a challenge, and an error': () => ({
    status: 401,
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    body: { error: 'invalid_token' },
  }),
  '403': () => ({ status: 403, body: { error: 'access_denied' } }),
  '400 and a page': () => ({ status: 400, headers: { 'content-type': 'text/html' }, body: '<html>' }),
  '404 and nothing': () => ({ status: 404, body: '' }),
  '400 and an array': () => ({ status: 400, body: ['invalid_client'] }),
}

const KEEPS: Readonly<Record<string, Answer>> = {
  invalid_client: () => ({ status: 401, body: { error: 'invalid_client' } }),
  'invalid_client, with 400': () => ({ status: 400, body: { error: 'invalid_client' } }),
  unauthorized_client: () => ({ status: 400, body: { error: 'unauthorized_client' } }),
  'a challenge for the client': () => ({
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="clients"' },
    body: '',
  }),
  '408': () => ({ status: 408, body: { error: 'invalid_grant' } }),
  '429': () => ({ status: 429, body: { error: 'invalid_grant' } }),
  '500': () => ({ status: 500, body: { error: 'invalid_grant' } }),
  '503': () => ({ status: 503, body: '' }),
  'an outage, with 400': () => ({ status: 400, body: { error: 'temporarily_unavailable' } }),
  'a redirect': () => ({ status: 302, headers: { location: '/elsewhere' }, body: '' }),
}

async function signedIn(t: Test) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
  provider.answers.set('/userinfo', () => ({ body: { sub: 'alice' } }))
  const session = async (returnTo?: string) => {
    const browser = world.visitor()
    const begun = await browser.begin('acme', returnTo === undefined ? {} : { return_to: returnTo })
    const parameters = new URL(begun.json.authorization_url).searchParams
    const idToken = await provider.sign(provider.claims({ nonce: parameters.get('nonce') }))
    provider.gives(idToken, { refresh_token: 'a-refresh-token-of-the-provider' })
    const query = new URLSearchParams({ code: 'a-code', state: parameters.get('state') ?? '' })
    const page = await browser.send(`${world.origin}/auth/oidc/callback/acme?${query}`)
    return { browser, handle: page.body === '' ? '' : String(page.json.refresh_token) }
  }
  return { world, provider, session }
}

t.test('responses that end the session of a program', async (t) => {
  const { world, provider, session } = await signedIn(t)
  for (const [name, answer] of Object.entries(ENDS)) {
    const { browser, handle } = await session()
    provider.answers.set('/token', answer)
    t.match((await browser.refresh(handle)).json, { status: 401, code: 'token_expired' }, name)
    provider.gives(null)
    t.equal((await browser.refresh(handle)).status, 401, `${name}: the session stays ended`)
  }
  const lines = world.events('session_ended')
  t.equal(lines.length, Object.keys(ENDS).length, 'each end is logged')
  const asked = lines.map(({ session, request_id }) => ({ target: { id: session }, request_id }))
  const entries = await endsInAudit(world)
  t.match(entries, asked, 'and in the audit')
  for (const { actor } of entries) t.equal(actor.id, provider.issuer)
})

t.test('responses that end the session of a browser', async (t) => {
  const { world, provider, session } = await signedIn(t)
  for (const [name, answer] of Object.entries(ENDS)) {
    const { browser } = await session('/pages/a')
    t.equal((await browser.send(`${world.origin}/pages/a`)).status, 200)
    clock.pass(HOUR)
    provider.answers.set('/token', answer)
    const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' }
    const page = await browser.send(`${world.origin}/pages/a`, { headers: navigation })
    t.equal(page.status, 303, name)
    t.match(
      page.headers.location,
      `${provider.issuer}/authorize?`,
      `${name}: a navigation is redirected to the provider`,
    )
    t.equal(
      (await browser.send(`${world.origin}/v1/me`)).status,
      401,
      `${name}: a background request gets a 401`,
    )
  }
})

t.test('background requests of a page whose session ends', async (t) => {
  const { world, provider, session } = await signedIn(t)
  const { browser } = await session('/pages/a')
  clock.pass(HOUR)
  provider.answers.set('/token', () => ({ status: 400, body: { error: 'invalid_request' } }))
  const page = await browser.send(`${world.origin}/v1/me`)
  t.match(page.json, { status: 401, code: 'token_expired' })
})

t.test('responses that end no session', async (t) => {
  const { world, provider, session } = await signedIn(t)
  for (const [name, answer] of Object.entries(KEEPS)) {
    const { browser, handle } = await session()
    provider.answers.set('/token', answer)
    t.match((await browser.refresh(handle)).json, { status: 503, code: 'unavailable' }, name)
    provider.gives(null)
    t.equal((await browser.refresh(handle)).status, 200, `${name}: the handle is still valid`)
  }
  t.equal(world.events('session_ended').length, 0)
  const advised = world
    .events('sign_in_failed')
    .filter(({ reason }) => /set a client_secret/.test(String(reason)))
  t.equal(advised.length, 4, 'the log names the setting to change where the client is rejected')
})

t.test('token_type', async (t) => {
  const { world, provider, session } = await signedIn(t)
  for (const type of ['DPoP', 'dpop', 'mac', 'N_A', '', 7, null, undefined]) {
    const { browser, handle } = await session()
    provider.gives(null, { token_type: type })
    t.match((await browser.refresh(handle)).json, { status: 503, code: 'unavailable' }, `${type}`)
    const begun = await browser.begin()
    const query = new URLSearchParams({ code: 'a-code', state: begun.json.state })
    const page = await browser.send(`${world.origin}/auth/oidc/callback/acme?${query}`)
    t.match(page.json, { status: 503, code: 'unavailable' }, `${type}: at sign-in`)
  }
  for (const type of ['Bearer', 'bearer', 'BEARER']) {
    const { browser, handle } = await session()
    provider.gives(null, { token_type: type })
    t.equal((await browser.refresh(handle)).status, 200, type)
  }
})

t.test('invalid_scope: the log names the setting', async (t) => {
  const { world, provider } = await signedIn(t)
  const refused = async () => {
    const browser = world.visitor()
    const { state } = (await browser.begin()).json
    const query = new URLSearchParams({ error: 'invalid_scope', error_description: 'Unknown scope', state })
    const page = await browser.send(`${world.origin}/auth/oidc/callback/acme?${query}`)
    t.match(page.json, { status: 401, code: 'credentials_missing' })
    return world.events('sign_in_failed').at(-1)
  }
  t.match(await refused(), {
    level: 'warn',
    reason: 'invalid_scope Unknown scope (set scopes without offline_access: [openid, email, profile])',
  })
  await provider.takes(world, { acme: { scopes: ['openid', 'email'] } })
  t.match(await refused(), { reason: /invalid_scope .*set scopes to those/ })
})

t.test('the attacker replays the handle after its rotation', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const stolen = (await browser.signIn()).json.refresh_token
  const honest = await browser.refresh(stolen)
  const tokenRequests = world.acme.count('/token')
  const before = announced(world).length
  t.match((await world.visitor('mallory').refresh(stolen)).json, {
    status: 401,
    code: 'token_invalid',
  })
  t.equal((await browser.refresh(honest.json.refresh_token)).status, 401, 'the current handle is invalid too')
  t.equal(world.acme.count('/token'), tokenRequests, 'the provider received no request')
  t.match(world.events('refresh_replayed'), [
    { level: 'warn', tenant: 'acme', user: 'alice', session: String },
  ])
  t.match(await endedByProvider(t, world, 'refresh_replayed'), [{ target: { name: 'alice' } }])
  t.equal(announced(world).length - before, 1, 'the end is published to every instance')
})

t.test("the attacker uses the handle first, and the honest client's use detects it", async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const stolen = (await browser.signIn()).json.refresh_token
  const attacker = await world.visitor('mallory').refresh(stolen)
  t.equal(attacker.status, 200, 'not detectable yet')
  t.equal((await browser.refresh(stolen)).status, 401)
  t.equal((await world.visitor('mallory').refresh(attacker.json.refresh_token)).status, 401)
})

t.test('an old handle, many rotations later', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const first = (await browser.signIn()).json.refresh_token
  let handle = first
  for (let i = 0; i < 5; i++) handle = (await browser.refresh(handle)).json.refresh_token
  t.equal((await browser.refresh(first)).status, 401)
  t.equal((await browser.refresh(handle)).status, 401)
})

t.test('concurrent uses: at most one succeeds, and the session ends', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const handle = (await browser.signIn()).json.refresh_token
  const tokenRequests = world.acme.count('/token')
  const pages = await Promise.all(Array.from({ length: 10 }, () => world.visitor().refresh(handle)))
  t.ok(pages.filter(({ status }) => status === 200).length <= 1)
  t.equal(world.acme.count('/token') - tokenRequests, 1, 'the provider received one request')
  for (const { json } of pages)
    if (json.refresh_token !== undefined) t.equal((await browser.refresh(json.refresh_token)).status, 401)
  t.equal((await browser.refresh(handle)).status, 401)
  t.equal((await endedByProvider(t, world, 'refresh_replayed')).length, 1, 'one entry')
})

t.test('other sessions of the user stay valid', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const [one, other] = [world.visitor(), world.visitor()]
  const replayed = (await one.signIn()).json.refresh_token
  const kept = (await other.signIn()).json.refresh_token
  await one.refresh(replayed)
  await one.refresh(replayed)
  t.equal((await other.refresh(kept)).status, 200)
})
