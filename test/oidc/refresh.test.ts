/**
 * Refresh: a new token, a new handle and the Seats that the provider reports now. Which responses end the session,
 * and which keep it.
 */

import { randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import t from 'tap'
import { openProviderGrant } from '../../src/oidc/session/open-session.ts'
import { moveClock } from '../sign-in/moving-clock.ts'
import { ACCESS_TOKEN, HostileProvider } from './hostile-provider.ts'
import { block, breakTable, freshWorld, HOUR, seat, sessions, userOf } from './world.ts'

const clock = moveClock(t)

t.test('Seats are mapped again, and the handle rotates', async (t) => {
  const world = await freshWorld()
  await seat(world, 'Viewer', ['s1'])
  await seat(world, 'Editor', ['s1', 's2'])
  world.user('alice', { memberOf: ['Viewer'] })
  const browser = world.visitor()
  const first = (await browser.signIn()).json
  t.same(decodeJwt(first.access_token).hash_perm, ['s1:Viewer'])

  world.user('alice', { memberOf: ['Editor'], email: 'new@acme.example' })
  clock.pass(HOUR)
  const second = await browser.refresh(first.refresh_token)
  t.equal(second.status, 200)
  t.match(second.json, { token_type: 'Bearer', expires_in: 3600, user: { sub: 'alice', seats: ['Editor'] } })
  t.equal(second.json.user.email, 'new@acme.example')
  const claims = decodeJwt(second.json.access_token)
  t.same(claims.hash_perm, ['s1:Editor', 's2:Editor'])
  t.ok((claims.iat ?? 0) >= (decodeJwt(first.access_token).iat ?? 0) + 3600, 'the token was issued now')
  t.not(second.json.refresh_token, first.refresh_token)
  const recorded = await userOf(world, 'alice')
  t.match(recorded, { email: 'new@acme.example', seats: ['Editor'] }, 'the member is recorded')
  t.equal(sessions(world)[0]?.name, first.user.name)
  t.equal((await browser.refresh(second.json.refresh_token)).status, 200, 'the new handle refreshes too')
})

t.test('invalid handles', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const handle: string = (await browser.signIn()).json.refresh_token
  const tokenRequests = world.acme.count('/token')
  const [tenant, id, family, rotating] = handle.slice('sgr_'.length).split('.')
  const other = 'A'.repeat(43)
  for (const text of [
    'x',
    handle.slice(4),
    `${handle}A`,
    handle.replace('sgr_acme', 'sgr_globex'),
    handle.replace('sgr_acme', 'sgr_initech'),
    `sgr_${tenant}.${'A'.repeat(22)}.${family}.${rotating}`,
    `sgr_${tenant}.${id}.${other}.${rotating}`,
    `sgr_${tenant}.${id}.${family}`,
    `sgr_${tenant}.${id}.${family}.${rotating}.x`,
    `sgr_${tenant}.${id}.${rotating}.${family}`,
    ' '.repeat(1000),
    'sgr_....',
  ]) {
    const page = await browser.refresh(text)
    t.equal(page.status, 401, text.length.toString())
    t.equal(page.json.code, 'token_invalid')
  }
  t.equal(world.acme.count('/token'), tokenRequests, 'the provider received no request')
  t.equal((await browser.refresh(handle)).status, 200, 'no session ended')
})

t.test('the provider no longer has the user: 401, and the session ends', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const handle = (await browser.signIn()).json.refresh_token
  world.acme.accounts.delete('alice')
  const page = await browser.refresh(handle)
  t.match(page.json, { status: 401, code: 'token_expired' })
  const [session] = sessions(world)
  t.ok(session?.endedAt, 'the session has ended')
  t.equal(session?.sealed, '', "the provider's tokens are removed")
  world.user('alice', {})
  t.equal((await browser.refresh(handle)).status, 401, 'the session stays ended')
  t.match(world.events('session_ended'), [{ tenant: 'acme', reason: /invalid_grant/ }])
})

t.test('a blocked user: 403, and the handle stays valid', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const handle: string = (await browser.signIn()).json.refresh_token
  const asked = world.acme.count('/token')
  const before = await userOf(world, 'alice')
  const unblock = await block(world, 'alice')
  for (let times = 0; times < 2; times++) {
    const page = await browser.refresh(handle)
    t.match(page.json, { status: 403, code: 'caller_blocked' })
  }
  t.equal(world.acme.count('/token'), asked, 'the provider is not asked')
  t.same(await userOf(world, 'alice'), { ...before, blocked: true }, 'no other trace among the users')
  await unblock()
  t.equal((await browser.refresh(handle)).status, 200, 'the block has ended')
})

t.test('the session has a maximum age', async (t) => {
  const world = await freshWorld({ acme: { sessionLifetime: 2 * HOUR } })
  world.user('alice', {})
  const browser = world.visitor()
  const handle = (await browser.signIn()).json.refresh_token
  clock.pass(2 * HOUR)
  const page = await browser.refresh(handle)
  t.match(page.json, { status: 401, code: 'token_expired' })
})

t.test('the provider is down: 503, and the handle stays valid', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const handle = (await browser.signIn()).json.refresh_token
  await world.acme.down()
  for (let i = 0; i < 3; i++)
    t.match((await browser.refresh(handle)).json, { status: 503, code: 'unavailable' })
  await world.acme.up()
  const page = await browser.refresh(handle)
  t.equal(page.status, 200, 'the refresh then succeeds')
  t.match(world.events('sign_in_failed')[0], {
    level: 'warn',
    tenant: 'acme',
    reason: /is unreachable \(ECONNREFUSED\)/,
  })
})

t.test('other failures of the provider: 503, and the handle stays valid', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const handle = (await browser.signIn()).json.refresh_token
  for (const [status, body] of [
    [500, '{}'],
    [502, '<html>'],
    [429, '{"error":"slow_down"}'],
    [401, '{"error":"invalid_client"}'],
    [200, '{'],
    [200, '[]'],
    [302, ''],
  ] as const) {
    world.acme.instead = (request, response) => {
      if (request.url !== '/token') return false
      response
        .writeHead(status, { 'content-type': 'application/json', location: 'https://evil.example/' })
        .end(body)
      return true
    }
    const page = await browser.refresh(handle)
    t.match(page.json, { status: 503, code: 'unavailable' }, `${status} ${body}`)
  }
  world.acme.instead = null
  t.equal((await browser.refresh(handle)).status, 200)
})

t.test(
  "the store fails after the provider's response: 503, and the new refresh token is not lost",
  async (t) => {
    const world = await freshWorld()
    world.user('alice', {})
    const browser = world.visitor()
    const handle = (await browser.signIn()).json.refresh_token
    const mend = breakTable(world, 'users')
    t.equal((await browser.refresh(handle)).status, 503)
    mend()
    t.equal((await browser.refresh(handle)).status, 200, 'the provider accepted its new refresh token')
  },
)

t.test('the store is unavailable', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const handle = (await browser.signIn()).json.refresh_token
  const mend = breakTable(world, 'sessions')
  t.equal((await browser.refresh(handle)).status, 503)
  t.equal((await world.visitor().signIn()).status, 503, 'sign-in is refused too')
  mend()
  t.equal((await browser.refresh(handle)).status, 200)
})

t.test("variants of the provider's refresh response", async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
  await seat(world, 'Viewer', ['s1'])
  await seat(world, 'Editor', ['s1'])
  let claims: Record<string, unknown> = {}
  provider.answers.set('/userinfo', () => ({ body: claims }))
  let nonce = ''
  const begin = async () => {
    await provider.takes(world)
    claims = { sub: 'alice' }
    const browser = world.visitor()
    const page = await provider.signIn(
      world,
      (given) => provider.sign(provider.claims({ nonce: (nonce = given) })),
      { refresh_token: 'provider-refresh-token-1' },
      browser,
    )
    return { browser, handle: page.json.refresh_token as string }
  }
  const sign = (more: Record<string, unknown>) =>
    provider.sign(provider.claims({ memberOf: ['Editor'], email: 'a@acme.example', ...more }))

  await t.test(
    'neither an ID token nor a new refresh token: userinfo identifies the user, and the old refresh token stays',
    async (t) => {
      const { browser, handle } = await begin()
      claims = { sub: 'alice', memberOf: 'Editor' }
      provider.gives(null)
      const page = await browser.refresh(handle)
      t.same(page.json.user.seats, ['Editor'])
      t.equal((await browser.refresh(page.json.refresh_token)).status, 200)
      t.equal(provider.forms.at(-1)?.get('refresh_token'), 'provider-refresh-token-1')
    },
  )

  await t.test('a new refresh token is used at the next refresh', async (t) => {
    const { browser, handle } = await begin()
    provider.gives(await sign({}), { refresh_token: 'provider-refresh-token-2' })
    const page = await browser.refresh(handle)
    await browser.refresh(page.json.refresh_token)
    t.equal(provider.forms.at(-1)?.get('refresh_token'), 'provider-refresh-token-2')
  })

  await t.test('an ID token without a nonce, or with the same nonce', async (t) => {
    for (const same of [true, false]) {
      const { browser, handle } = await begin()
      provider.gives(await sign(same ? { nonce } : {}))
      t.equal((await browser.refresh(handle)).status, 200)
    }
  })

  await t.test('responses that end the session', async (t) => {
    const ends: Record<string, () => Promise<string | null>> = {
      'an ID token of another subject': () => sign({ sub: 'mallory' }),
      'an ID token with another nonce': () => sign({ nonce: 'A'.repeat(43) }),
      'an ID token for another client': () => sign({ aud: 'other' }),
      'an ID token of another issuer': () => sign({ iss: 'https://evil.example' }),
      'an expired ID token': () => sign({ exp: 1 }),
      'userinfo of another subject': async () => {
        claims = { sub: 'mallory', memberOf: 'Editor' }
        return null
      },
    }
    for (const [name, make] of Object.entries(ends)) {
      const { browser, handle } = await begin()
      provider.gives(await make())
      t.equal((await browser.refresh(handle)).status, 401, name)
      provider.gives(await sign({}))
      t.equal((await browser.refresh(handle)).status, 401, `${name}: the session stays ended`)
    }
  })

  await t.test('neither userinfo nor an ID token: the user is not identified', async (t) => {
    provider.metadata = {}
    const { browser, handle } = await begin()
    provider.gives(null)
    t.equal((await browser.refresh(handle)).status, 401)
  })
})

t.test('without a refresh token of the provider there is no handle', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  const page = await provider.signIn(world)
  t.equal(page.status, 200)
  t.notOk('refresh_token' in page.json)
  const { sid, exp } = decodeJwt(page.json.access_token)
  const [session] = sessions(world)
  t.match(session, { id: sid, expiresAt: Number(exp) * 1000 }, 'its session lasts as long as the token')
})

t.test('at rest, the store has neither handles nor plain provider tokens', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  const page = await provider.signIn(world, {}, { refresh_token: 'provider-refresh-token-1' })
  const [session] = sessions(world)
  const stored = JSON.stringify(session, (_key, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  )
  for (const part of String(page.json.refresh_token).split('.').slice(2)) {
    t.notMatch(stored, part)
    t.notOk(stored.includes(Buffer.from(part, 'base64url').toString('latin1')))
  }
  t.notMatch(stored, 'provider-refresh-token-1')
  t.notMatch(stored, ACCESS_TOKEN)
  if (session === undefined) throw new Error('no session')
  const { token } = world.gateway.tenant('acme')
  const own = { id: 'acme', adminSpace: 'admin', token }
  const tenant = { ...own, oidc: { ...world.acme.config(), issuer: provider.issuer } }
  const other = { ...own, oidc: world.acme.config() }
  t.equal(
    openProviderGrant(session, tenant)?.refreshToken,
    'provider-refresh-token-1',
    'the tokens are sealed',
  )
  t.equal(
    openProviderGrant({ ...session, id: 'A'.repeat(22) }, tenant),
    null,
    'sealed for this session alone',
  )
  t.equal(openProviderGrant(session, other), null, 'sealed for the issuing provider alone')
})

t.test(
  "after a change of the tenant's secrets the old ones open sealed text until they are removed",
  async (t) => {
    const world = await freshWorld()
    world.user('alice', {})
    const browser = world.visitor()
    const handle = (await browser.signIn()).json.refresh_token
    const secret = () => randomBytes(32).toString('hex')
    const env = { NEW_SECRET: secret(), NEWEST_SECRET: secret() }
    await world.configure({ token: ['secrets: ["${NEW_SECRET}", "${ACME_SECRET}"]'], env })
    const page = await browser.refresh(handle)
    t.equal(page.status, 200, 'newly sealed under the new secret')
    await world.configure({ token: ['secrets: ["${NEWEST_SECRET}"]'], env })
    t.equal((await browser.refresh(page.json.refresh_token)).status, 401)
  },
)

t.test('more Seats than a token can carry: 503, and the handle stays valid', async (t) => {
  const world = await freshWorld()
  await seat(world, 'Viewer', ['s1'])
  world.user('alice', { memberOf: ['Viewer'] })
  const browser = world.visitor()
  const handle = (await browser.signIn()).json.refresh_token
  await seat(
    world,
    'Viewer',
    Array.from({ length: 2000 }, (_, i) => `space-${i}`),
  )
  const page = await browser.refresh(handle)
  t.match(page.json, { status: 503, code: 'unavailable', detail: /do not fit into a token/ })
  t.equal(world.events('token_too_long').length, 1)
  await seat(world, 'Viewer', ['s2'])
  const next = await browser.refresh(handle)
  t.equal(next.status, 200, 'the refresh succeeds after the Seat loses spaces')
  t.same(decodeJwt(next.json.access_token).hash_perm, ['s2:Viewer'])
})
