/** Session fixation: a sign-in never continues under an existing secret. */

import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { announced, freshWorld } from './world.ts'
import { roundTrip } from '../support/raw-client.ts'

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
