/**
 * The browser's session: its cookie, its lifetime, and when its Seats are mapped again. A sign-in never continues under an
 * existing secret (session fixation).
 */

import { mock } from 'node:test'
import { performance } from 'node:perf_hooks'
import t, { type Test } from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { moveClock } from '../sign-in/moving-clock.ts'
import { HostileProvider } from './hostile-provider.ts'
import { announced, breakTable, endedByProvider, freshWorld, HOUR, seat, sessions } from './world.ts'
import { roundTrip } from '../support/raw-client.ts'

const clock = moveClock(t)

t.test('attributes of the cookie', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const answer = await browser.answer('acme', { return_to: '/pages/a' })
  const back = await browser.send(answer.href)
  t.equal(back.status, 303)
  const line = back.headers['set-cookie']?.find((each) => each.startsWith(SESSION_COOKIE)) ?? ''
  t.match(
    line,
    /^__Host-seatgate_session=acme\.[\w-]{22}\.[\w-]{43}; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/,
  )
  t.notMatch(line, /domain/i)
  t.equal(back.headers['cache-control'], 'no-store')
  t.equal(back.headers['referrer-policy'], 'no-referrer', 'the address contains the code')
  t.equal(back.body, '')
  const secret = line.split(/[.;]/)[2] ?? ''
  const stored = JSON.stringify(sessions(world))
  t.notMatch(stored, secret, 'hashed at rest')
})

t.test('invalid cookies', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  const good = browser.cookies(world.origin).get(SESSION_COOKIE) ?? ''
  const [, id, secret] = good.split('.')
  const otherBrowser = world.visitor()
  for (const text of [
    '',
    'x',
    `acme.${id}.${'A'.repeat(43)}`,
    `acme.${'A'.repeat(22)}.${secret}`,
    `globex.${id}.${secret}`,
    `initech.${id}.${secret}`,
    `${good}.x`,
    `${good}A`,
    good.toUpperCase(),
    'x'.repeat(4000),
  ]) {
    const page = await otherBrowser.send(`${world.origin}/v1/me`, {
      headers: { cookie: `${SESSION_COOKIE}=${text}` },
    })
    t.equal(page.status, 401, text.slice(0, 8))
    t.equal(page.json.code, 'token_invalid')
  }
  const both = await otherBrowser.send(`${world.origin}/v1/me`, {
    headers: { cookie: `${SESSION_COOKIE}=x; ${SESSION_COOKIE}=${good}` },
  })
  t.match(both.json, { status: 400, code: 'credentials_ambiguous' })
  const inName = await otherBrowser.send(`${world.origin}/v1/me`, {
    headers: { cookie: `x${SESSION_COOKIE}=${good}` },
  })
  t.equal(inName.json.code, 'credentials_missing', 'a cookie of another name is ignored')
})

t.test('a refresh handle is not accepted as a cookie, nor a cookie as a handle', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const [tenant, id, family, rotating] = String((await browser.signIn()).json.refresh_token)
    .slice(4)
    .split('.')
  for (const secret of [family, rotating]) {
    const cookie = `${SESSION_COOKIE}=${tenant}.${id}.${secret}`
    t.equal((await world.visitor().send(`${world.origin}/v1/me`, { headers: { cookie } })).status, 401)
  }
  await browser.page('/pages/home')
  const [, cookieId, secret] = (browser.cookies(world.origin).get(SESSION_COOKIE) ?? '').split('.')
  t.equal((await browser.refresh(`sgr_acme.${cookieId}.${secret}.${secret}`)).status, 401)
})

t.test('Seats are mapped again once in the lifetime of a token', async (t) => {
  const world = await freshWorld()
  await seat(world, 'Viewer', ['s1'])
  await seat(world, 'Editor', ['s2'])
  world.user('alice', { memberOf: ['Viewer'] })
  const browser = world.visitor()
  await browser.page('/pages/home')
  const seatIn = async (space: string) => (await browser.ask('/v1/trainings', { space })).json.seats
  world.user('alice', { memberOf: ['Editor'] })
  clock.pass(HOUR - 60_000)
  t.equal(await seatIn('s1'), 'Viewer')
  const before = announced(world).length
  clock.pass(60_000)
  const tokenRequests = world.acme.count('/token')
  const found = await Promise.all(Array.from({ length: 20 }, () => seatIn('s2')))
  t.same(found, Array(20).fill('Editor'))
  t.equal(world.acme.count('/token') - tokenRequests, 1, 'with one request to the provider')
  t.equal(announced(world).length - before, 1, 'the change is published to every instance')
  t.equal(await seatIn('s2'), 'Editor')
  t.equal(await seatIn('s1'), undefined)
  t.equal(world.acme.count('/token') - tokenRequests, 1)
})

t.test('the provider no longer has the user', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  world.acme.accounts.delete('alice')
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200, 'not detected yet')
  clock.pass(HOUR)
  const page = await browser.send(`${world.origin}/v1/me`)
  t.match(page.json, { status: 401, code: 'token_expired' })
  const line = { tenant: 'acme', user: 'alice', session: String, request_id: /^[\w-]{36}$/ }
  t.match(world.events('session_ended'), [line])
  t.match(await endedByProvider(t, world, 'session_ended'), [{ target: { name: 'alice' } }])
  world.user('alice', {})
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 401, 'the session stays ended')
})

/** Moves the monotonic clock of this process ahead. */
function movingClock(t: Test): (ms: number) => void {
  const now = performance.now.bind(performance)
  let ahead = 0
  const moved = mock.method(performance, 'now', () => now() + ahead)
  t.teardown(() => moved.mock.restore())
  return (ms) => void (ahead += ms)
}

t.test('the provider is down: 503 when the Seats are too old, and recovery afterwards', async (t) => {
  const pass = movingClock(t)
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  await world.acme.down()
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200, 'the Seats are still fresh enough')
  clock.pass(HOUR)
  for (let i = 0; i < 3; i++)
    t.match((await browser.send(`${world.origin}/v1/me`)).json, { status: 503, code: 'unavailable' })
  await world.acme.up()
  pass(10_000)
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200)
})

t.test('a wall clock that is set back does not prolong the wait for the provider', async (t) => {
  const pass = movingClock(t)
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  await world.acme.down()
  clock.pass(3 * HOUR)
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 503)
  await world.acme.up()
  clock.pass(-HOUR)
  pass(10_000)
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200)
})

t.test('the session has a maximum age that no renewal extends', async (t) => {
  const world = await freshWorld({ acme: { sessionLifetime: 2 * HOUR } })
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  clock.pass(HOUR + HOUR / 2)
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200)
  clock.pass(HOUR / 2)
  t.match((await browser.send(`${world.origin}/v1/me`)).json, { status: 401, code: 'token_expired' })
})

t.test('a provider without refresh tokens: the session lasts as long as a token', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  const browser = world.visitor()
  const begun = await browser.begin('acme', { return_to: '/pages/a' })
  const parameters = new URL(begun.json.authorization_url).searchParams
  provider.gives(await provider.sign(provider.claims({ nonce: parameters.get('nonce') })))
  const query = new URLSearchParams({ code: 'a-code', state: begun.json.state })
  await browser.send(`${world.origin}/auth/oidc/callback/acme?${query}`)
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200)
  clock.pass(HOUR)
  t.match((await browser.send(`${world.origin}/v1/me`)).json, { status: 401, code: 'token_expired' })
})

t.test('the store is unavailable', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.send((await browser.answer('acme', { return_to: '/pages/a' })).href)
  // Before memory has it.
  const mend = breakTable(world, 'sessions')
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 503)
  mend()
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200)
})

t.test("the attacker's own session, planted in the victim's browser", async (t) => {
  const world = await freshWorld()
  world.user('mallory', {})
  world.user('alice', {})
  const attacker = world.visitor('mallory')
  await attacker.page('/pages/home')
  const planted = attacker.cookies(world.origin).get(SESSION_COOKIE) ?? ''

  const victim = world.visitor('alice')
  victim.cookies(world.origin).set(SESSION_COOKIE, planted)
  const answer = await victim.answer('acme', { return_to: '/pages/a' })
  t.equal((await victim.send(answer.href)).status, 303)
  const own = victim.cookies(world.origin).get(SESSION_COOKIE) ?? ''
  t.not(own, planted, 'the sign-in has a new secret')
  t.equal((await victim.send(`${world.origin}/v1/me`)).json.user, 'alice')

  const after = await attacker.send(`${world.origin}/v1/me`)
  t.equal(after.status, 401, 'the planted session has ended, also for its other holder')
  t.equal(after.json.code, 'token_invalid')
  t.same(announced(world), [planted.split('.')[1]], 'on every instance')
})

t.test('a made-up session', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const made = `acme.${'A'.repeat(22)}.${'B'.repeat(43)}`
  browser.cookies(world.origin).set(SESSION_COOKIE, made)
  t.equal((await browser.send(`${world.origin}/v1/me`)).json.code, 'token_invalid')
  const answer = await browser.answer('acme', { return_to: '/pages/a' })
  await browser.send(answer.href)
  const own = browser.cookies(world.origin).get(SESSION_COOKIE) ?? ''
  t.notMatch(own, 'A'.repeat(22), 'neither its id nor its secret is reused')
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200)
})

t.test('a cookie that another subdomain may set is none of ours', async (t) => {
  const world = await freshWorld()
  world.user('mallory', {})
  const attacker = world.visitor('mallory')
  await attacker.page('/pages/home')
  const planted = attacker.cookies(world.origin).get(SESSION_COOKIE) ?? ''
  // A browser stores what stands before the prefix as part of the name, to which the rules of `__Host-` then do not apply.
  for (const before of ['\xa0', '\xa0\t', 'x', '']) {
    const cookie = Buffer.from(`${before}${SESSION_COOKIE}=${planted}`, 'latin1')
    const head = ['GET /v1/me HTTP/1.1', 'Host: a', 'Connection: close', 'Cookie: a=b; ']
    const bytes = Buffer.concat([Buffer.from(head.join('\r\n')), cookie, Buffer.from('\r\n\r\n')])
    const answer = await roundTrip(Number(new URL(world.origin).port), bytes)
    t.match(
      answer,
      before === '' ? /"user":"mallory"/ : /"code":"credentials_missing"/,
      JSON.stringify(before),
    )
  }
})

t.test('a second sign-in leaves one session', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const cookies: string[] = []
  for (let i = 0; i < 2; i++) {
    const answer = await browser.answer('acme', { return_to: '/pages/a' })
    await browser.send(answer.href)
    cookies.push(browser.cookies(world.origin).get(SESSION_COOKIE) ?? '')
  }
  t.not(cookies[0], cookies[1])
  const old = world.visitor()
  old.cookies(world.origin).set(SESSION_COOKIE, cookies[0] ?? '')
  t.equal((await old.send(`${world.origin}/v1/me`)).status, 401)
})
