/** Logout tokens that must not count: each attack by its name, against a provider with scripted tokens. */

import { createHmac, randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair } from 'jose'
import t from 'tap'
import { until } from '../support/until.ts'
import type { Page } from '../sign-in/visitor.ts'
import { callbackOf, CLIENT, type Claims, HostileProvider } from './hostile-provider.ts'
import { breakTable, endsInAudit, freshWorld, sessions, stored } from './world.ts'

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const HEADER = { typ: 'logout+jwt' }
/** No valid token names it. */
const ATTACKED = 'the attacked session'
const URI = '/auth/oidc/backchannel-logout'

const world = await freshWorld()
const provider = await HostileProvider.start(t)
await provider.takes(world)

const now = () => Math.floor(Date.now() / 1000)

function claims(more: Claims = {}): Claims {
  const { memberOf: _names, ...common } = provider.claims()
  return { ...common, exp: now() + 120, sid: ATTACKED, jti: randomUUID(), events: EVENTS, ...more }
}

const logoutToken = (more: Claims = {}, header: Claims = {}, key = provider.key) =>
  provider.sign(claims(more), { ...HEADER, ...header }, key)

function post(token: string, uri = URI): Promise<Page> {
  return world.visitor().post(world.origin + uri, { logout_token: token })
}

const logouts = () => stored(world, 'SELECT digest FROM provider_logouts').length

/** A sign-in that begins in the millisecond of a logout of the user counts as one under way. */
async function nextMillisecond(): Promise<void> {
  const before = Date.now()
  await until(() => Date.now() > before, 'a later millisecond', { pause: 1 })
}

/** A program that is signed in, in this session at the provider. @returns its token */
async function signIn(sid: string | undefined, sub = 'alice'): Promise<string> {
  await nextMillisecond()
  const page = await provider.signIn(world, { sid, sub })
  if (page.status !== 200) throw new Error(page.body)
  return page.json.access_token
}

async function isLive(token: string): Promise<boolean> {
  return (await world.visitor().ask('/v1/me', { token })).status === 200
}

/** The token is refused, and ends no session. */
function attack(name: string, make: () => string | Promise<string>, description: RegExp, uri = URI): void {
  t.test(name, async (t) => {
    const live = await signIn(ATTACKED)
    const recorded = logouts()
    const page = await post(await make(), uri)
    t.equal(page.status, 400)
    t.equal(page.headers['cache-control'], 'no-store')
    t.match(page.json, { error: 'invalid_request', error_description: description })
    t.ok(await isLive(live), 'the session goes on')
    t.equal(logouts(), recorded, 'nothing is recorded')
  })
}

t.test('a valid token', async (t) => {
  const [one, same, other] = [await signIn('s1'), await signIn('s1'), await signIn('s2')]
  const page = await post(await logoutToken({ sid: 's1' }))
  t.equal(page.status, 200)
  t.equal(page.body, '')
  t.equal(page.headers['cache-control'], 'no-store')
  t.same([await isLive(one), await isLive(same), await isLive(other)], [false, false, true])
  t.equal(
    (await post(await logoutToken({ sid: 's1' }), `${URI}/acme`)).status,
    200,
    'at the address of the tenant',
  )
})

t.test('sub alone: all sessions of the user', async (t) => {
  const [one, other, bob] = [await signIn('u1'), await signIn(undefined), await signIn('u3', 'bob')]
  t.equal((await post(await logoutToken({ sid: undefined }))).status, 200)
  t.same([await isLive(one), await isLive(other), await isLive(bob)], [false, false, true])
})

t.test('sid and sub: that session only', async (t) => {
  const [one, other] = [await signIn('both'), await signIn('neither')]
  t.equal((await post(await logoutToken({ sid: 'both', sub: 'alice' }))).status, 200)
  t.same([await isLive(one), await isLive(other)], [false, true])
})

t.test('sid without sub', async (t) => {
  const one = await signIn('sid only')
  t.equal((await post(await logoutToken({ sid: 'sid only', sub: undefined }))).status, 200)
  t.equal(await isLive(one), false)
})

t.test('an unknown session and an unknown user are 200', async (t) => {
  t.equal((await post(await logoutToken({ sid: 'nowhere' }))).status, 200)
  t.equal((await post(await logoutToken({ sid: undefined, sub: 'nobody' }))).status, 200)
})

t.test('types that older providers send', async (t) => {
  for (const typ of [undefined, 'JWT', 'jwt', 'LOGOUT+JWT', 'application/logout+jwt'])
    t.equal((await post(await logoutToken({ sid: 'a' }, { typ }))).status, 200, String(typ))
  t.equal((await post(await logoutToken({ sid: 'a', typ: 'Logout' }))).status, 200, "Keycloak's claim typ")
})

t.test('other parameters are ignored', async (t) => {
  const fields = { logout_token: await logoutToken({ sid: 'a' }), tenant: 'globex', more: 'x' }
  t.equal((await world.visitor().post(world.origin + URI, fields)).status, 200)
})

attack('wrong audience', () => logoutToken({ aud: 'other' }), /not for a provider and client/)
attack('no audience', () => logoutToken({ aud: undefined }), /not for a provider and client/)
attack('a further audience', () => logoutToken({ aud: [CLIENT, 'other'] }), /another client/)
attack('issued to another party', () => logoutToken({ azp: 'other' }), /another client/)
attack('wrong issuer', () => logoutToken({ iss: 'https://other.example' }), /not for a provider and client/)
attack(
  'the issuer with a trailing slash',
  () => logoutToken({ iss: `${provider.issuer}/` }),
  /not for a provider and client/,
)
attack("another tenant's issuer", () => logoutToken({ iss: world.globex.issuer }), /not for a provider/)
attack('with nonce', () => logoutToken({ nonce: 'a' }), /nonce/)
attack('with a nonce that is null', () => logoutToken({ nonce: null }), /nonce/)
attack('without events', () => logoutToken({ events: undefined }), /not a logout token/)
attack('events with another event', () => logoutToken({ events: { other: {} } }), /not a logout token/)
for (const events of [EVENTS.constructor.name, [EVENTS], null, { [Object.keys(EVENTS)[0] ?? '']: null }])
  attack(`events ${JSON.stringify(events)}`, () => logoutToken({ events }), /not a logout token/)
attack('events by the prototype', () => logoutToken({ events: { __proto__: EVENTS } }), /not a logout token/)
attack('expired', () => logoutToken({ exp: now() - 61 }), /expired/)
attack('old, without exp', () => logoutToken({ exp: undefined, iat: now() - 181 }), /expired/)
attack('without exp and iat', () => logoutToken({ exp: undefined, iat: undefined }), /no valid exp and iat/)
attack('exp is null', () => logoutToken({ exp: null }), /no valid exp and iat/)
attack('exp is text', () => logoutToken({ exp: String(now() + 60) }), /exp/)
attack('without iat', () => logoutToken({ iat: undefined }), /iat/)
attack('issued in the future', () => logoutToken({ iat: now() + 120 }), /expired/)
attack(
  'issued over an hour ago, with an exp in ten years',
  () => logoutToken({ iat: now() - 3700, exp: now() + 315_360_000 }),
  /expired/,
)
attack('without jti', () => logoutToken({ jti: undefined }), /jti/)
for (const jti of ['', 7, null, ['a']])
  attack(`jti ${JSON.stringify(jti)}`, () => logoutToken({ jti }), /jti/)
attack('neither sid nor sub', () => logoutToken({ sid: undefined, sub: undefined }), /sid or sub/)
for (const sid of ['', 7, { a: 1 }, [ATTACKED], true])
  attack(`sid ${JSON.stringify(sid)}`, () => logoutToken({ sid }), /sid or sub/)
for (const sub of ['', 7, 'x'.repeat(256), 'a\nb'])
  attack(`sub ${JSON.stringify(sub).slice(0, 20)}`, () => logoutToken({ sid: undefined, sub }), /sid or sub/)
for (const typ of ['at+jwt', 'secevent+jwt', 'dpop+jwt', 'id+jwt', '', 'logout'])
  attack(`typ ${typ}`, () => logoutToken({}, { typ }), /not a logout token/)
for (const typ of ['ID', 'Bearer', 'Refresh', 7])
  attack(`claim typ ${typ}`, () => logoutToken({ typ }), /not a logout token/)

attack('an ID token', () => provider.sign(provider.claims({ sid: ATTACKED, jti: 'a' })), /not a logout/)
attack("the gateway's own token", () => signIn('another session'), /not a logout token/)
attack(
  'forged: a key of another provider, under the same kid',
  async () => logoutToken({}, {}, (await generateKeyPair('ES256')).privateKey),
  /signature/,
)
attack(
  'forged: the key is in the header',
  async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    return logoutToken({}, { jwk: await exportJWK(publicKey), kid: 'of the attacker' }, privateKey)
  },
  /key/,
)
attack(
  'a changed payload',
  async () => {
    const [header = '', , signature = ''] = (await logoutToken()).split('.')
    return `${header}.${encoded(claims({ sid: undefined }))}.${signature}`
  },
  /signature/,
)
attack('alg none', () => `${encoded({ alg: 'none', ...HEADER })}.${encoded(claims())}.`, /algorithm/)
attack('alg None', () => `${encoded({ alg: 'None', ...HEADER })}.${encoded(claims())}.`, /algorithm/)
attack(
  "HS256 with the provider's public key as the secret",
  () => {
    const input = `${encoded({ alg: 'HS256', kid: 'first', ...HEADER })}.${encoded(claims())}`
    const key = JSON.stringify(provider.keys.at(-1))
    return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
  },
  /algorithm/,
)
attack('crit', () => logoutToken({}, { crit: ['exp'], exp: 1 }).catch(() => 'a.b.c'), /canonical form/)
attack('no token at all', () => 'x', /canonical form/)
attack('an encrypted token (five parts)', () => 'a.b.c.d.e', /encrypted, and not for a key/)
attack('padded base64', async () => `${await logoutToken()}=`, /canonical form/)
attack('a token of 9 KiB', () => logoutToken({ more: 'x'.repeat(9 * 1024) }), /canonical form/)
attack('an unknown tenant', () => logoutToken(), /not for a provider and client/, `${URI}/unknown`)
attack('the address of another tenant', () => logoutToken(), /not for a provider and client/, `${URI}/globex`)

t.test('replayed: each jti counts once', async (t) => {
  const token = await logoutToken({ sid: undefined })
  t.equal((await post(token)).status, 200)
  const live = await signIn('later')
  for (const uri of [URI, `${URI}/acme`])
    t.match((await post(token, uri)).json, { error: 'invalid_request', error_description: /already used/ })
  t.ok(await isLive(live))
  const again = await logoutToken({ sid: undefined, jti: claims().jti })
  t.equal((await post(again)).status, 200)
  t.notOk(await isLive(live), 'another token counts')
})

t.test('replayed with another signature: the jti counts, not the text', async (t) => {
  const shared = { sid: 'replay', jti: 'one and the same' }
  t.equal((await post(await logoutToken(shared))).status, 200)
  t.equal((await post(await logoutToken({ ...shared, exp: now() + 60 }))).status, 400)
})

t.test('one token many times at once: one succeeds', async (t) => {
  const token = await logoutToken({ sid: 'a' })
  const pages = await Promise.all(Array.from({ length: 10 }, () => post(token)))
  t.same(pages.map(({ status }) => status).toSorted(), [200, ...Array(9).fill(400)])
})

t.test('bodies that are no form with one token', async (t) => {
  const token = await logoutToken({ sid: 'a' })
  const browser = world.visitor()
  const send = (body: string, type: string) =>
    browser.send(world.origin + URI, { method: 'POST', headers: { 'content-type': type }, body })
  const form = 'application/x-www-form-urlencoded'
  for (const [body, type] of [
    [JSON.stringify({ logout_token: token }), 'application/json'],
    [`logout_token=${token}`, 'text/plain'],
    [`logout_token=${token}`, `${form}; charset=utf-16`],
    [`logout_token=${token}&logout_token=${token}`, form],
    [`logout_token=`, form],
    [`token=${token}`, form],
    ['', form],
    [`logout_token=${token}&more=${'x'.repeat(16 * 1024)}`, form],
  ] as const) {
    const page = await send(body, type)
    t.equal(page.status, 400, `${type} ${body.slice(0, 30)}`)
    t.equal(page.json.error, 'invalid_request')
  }
  t.equal((await browser.send(`${world.origin}${URI}?logout_token=${token}`)).status, 405, 'never by GET')
  t.equal((await post(token)).status, 200, 'none of these used the token up')
})

t.test('refused texts cause no request to the provider, and no cryptography', async (t) => {
  await provider.takes(world)
  const before = [...provider.requestCounts.values()].reduce((sum, count) => sum + count, 0)
  for (const token of [
    'x',
    await logoutToken({ aud: 'other' }),
    await logoutToken({ exp: 1 }),
    await logoutToken({ nonce: 'a' }),
    await logoutToken({}, { typ: 'at+jwt' }),
    await logoutToken({ sid: undefined, sub: undefined }),
  ])
    t.equal((await post(token)).status, 400)
  t.equal(
    [...provider.requestCounts.values()].reduce((sum, count) => sum + count, 0),
    before,
  )
  await provider.takes(world)
})

t.test('forged tokens cause few reads of the keys', async (t) => {
  const before = provider.count('/jwks')
  for (let i = 0; i < 50; i++)
    t.equal((await post(await logoutToken({}, { kid: `unknown ${i}` }))).status, 400)
  t.ok(provider.count('/jwks') - before <= 3, `${provider.count('/jwks') - before} reads`)
})

t.test('the keys cannot be read: temporarily unavailable, and the token can be sent again', async (t) => {
  const live = await signIn('keys')
  await provider.takes(world)
  const jwks = provider.answers.get('/jwks')
  provider.answers.set('/jwks', () => ({ status: 500, body: '' }))
  const token = await logoutToken({ sid: 'keys' })
  const page = await post(token)
  t.equal(page.status, 400)
  t.equal(page.json.error, 'temporarily_unavailable')
  t.ok(await isLive(live))
  provider.answers.set('/jwks', jwks ?? (() => null))
  await provider.takes(world)
  t.equal((await post(token)).status, 200)
  t.notOk(await isLive(live))
})

t.test('the store is unavailable: 503, and the token can be sent again', async (t) => {
  const live = await signIn('store')
  const token = await logoutToken({ sid: 'store' })
  const mend = breakTable(world, 'sessions')
  t.equal((await post(token)).status, 503)
  mend()
  t.equal((await post(token)).status, 200)
  t.notOk(await isLive(live))
})

t.test('a sign-in that began before the logout does not complete after it', async (t) => {
  const begin = async () => {
    const browser = world.visitor()
    const begun = await browser.begin()
    return { browser, parameters: new URL(begun.json.authorization_url).searchParams }
  }
  const finish = async ({ browser, parameters }: Awaited<ReturnType<typeof begin>>, sid: string) => {
    const nonce = parameters.get('nonce')
    provider.gives(await provider.sign(provider.claims({ nonce, sid, sub: 'carol' })))
    return browser.send(callbackOf(world, parameters.get('state') ?? ''))
  }
  const [bySid, other] = [await begin(), await begin()]
  t.equal((await post(await logoutToken({ sid: 'under way', sub: 'carol' }))).status, 200)
  const refused = await finish(bySid, 'under way')
  t.match(refused.json, { status: 401, code: 'token_invalid', detail: /logged out/ })
  t.equal((await finish(other, 'elsewhere')).status, 200, 'in another session at the provider')
  const again = await finish(await begin(), 'under way')
  t.match(again.json, { status: 401 }, 'the ended session is not revived')

  const bySub = await begin()
  t.equal((await post(await logoutToken({ sid: undefined, sub: 'carol' }))).status, 200)
  t.match((await finish(bySub, 'new')).json, { status: 401, code: 'token_invalid' })
  const last = (await endsInAudit(world)).at(-1)
  t.match(last, { action: 'session.end', actor: { kind: 'provider' }, target: { name: 'carol' } })
  const left = sessions(world).filter(({ user, endedAt }) => user === 'carol' && endedAt === null)
  t.same(left, [], 'no session is left')
  await nextMillisecond()
  const page = await finish(await begin(), 'newer')
  t.equal(page.status, 200, 'a sign-in that begins after the logout completes')
  t.ok(await isLive(page.json.access_token))
})

t.test('tenants that share issuer and client: one token ends the sessions of both', async (t) => {
  const client = { issuer: provider.issuer, clientId: CLIENT, clientSecret: null, clientAuth: null }
  const own = (id: string) => ({
    ...client,
    redirectUri: `${world.origin}/auth/oidc/callback/${id}`,
    tenantClaim: { name: 'org', value: id },
  })
  await world.configure({ acme: own('acme'), globex: own('globex') })
  const at = async (org: 'acme' | 'globex', sid: string) => {
    const browser = world.visitor()
    const begun = await browser.begin(org)
    const parameters = new URL(begun.json.authorization_url).searchParams
    provider.gives(await provider.sign(provider.claims({ nonce: parameters.get('nonce'), sid, org })))
    const query = new URLSearchParams({ code: 'a-code', state: parameters.get('state') ?? '' })
    return String((await browser.send(`${own(org).redirectUri}?${query}`)).json.access_token)
  }
  for (const uri of [URI, `${URI}/acme`, `${URI}/globex`]) {
    const [acme, globex] = [await at('acme', uri), await at('globex', uri)]
    t.same([await isLive(acme), await isLive(globex)], [true, true])
    const token = await logoutToken({ sid: uri })
    t.equal((await post(token, uri)).status, 200)
    t.same([await isLive(acme), await isLive(globex)], [false, false], uri)
    t.equal((await post(token, uri)).status, 400, 'replayed')
  }
  await world.configure({ acme: own('acme'), globex: { ...own('globex'), clientId: 'other' } })
  const both = { aud: [CLIENT, 'other'] }
  t.match((await post(await logoutToken(both))).json, { error_description: /several clients/ })
  await provider.takes(world)
})

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
