/** Authorization codes, replayed or injected. The provider's PKCE check and the gateway's state make them worthless. */

import t from 'tap'
import { freshWorld } from './world.ts'

t.test('replay: a redeemed code under the state of a new sign-in', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const first = await browser.answer()
  t.equal((await browser.send(first.href)).status, 200)
  const second = await browser.answer()
  second.searchParams.set('code', first.searchParams.get('code') ?? '')
  const page = await browser.send(second.href)
  t.equal(page.status, 401)
  t.equal(page.json.code, 'token_invalid')
  t.match(world.events('sign_in_failed'), [{ reason: /invalid_grant/ }])
})

t.test("injection: a victim's unredeemed code under the attacker's own state", async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  world.user('mallory', {})
  const victim = await world.visitor('alice').answer()
  const browser = world.visitor('mallory')
  const own = await browser.answer()
  own.searchParams.set('code', victim.searchParams.get('code') ?? '')
  const page = await browser.send(own.href)
  t.equal(page.status, 401, 'the code was requested with another code_challenge')
  t.equal(page.json.code, 'token_invalid')
})

t.test('a missing, empty or repeated code', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const twice = await browser.answer()
  const page = await browser.send(`${twice.href}&code=x`)
  t.match(page.json, { status: 400, errors: [{ path: '/code' }] })
  const none = await browser.answer()
  none.searchParams.delete('code')
  t.match((await browser.send(none.href)).json, { status: 400, errors: [{ path: '/code' }] })
  const empty = await browser.answer()
  empty.searchParams.set('code', '')
  t.match((await browser.send(empty.href)).json, { status: 400, errors: [{ path: '/code' }] })
  t.equal(world.acme.count('/token'), 0)
})

t.test('each sign-in has its own verifier, nonce and state', async (t) => {
  const world = await freshWorld()
  const seen = new Set<string>()
  for (let i = 0; i < 10; i++) {
    const begun = await world.visitor().begin()
    const parameters = new URL(begun.json.authorization_url).searchParams
    for (const name of ['state', 'nonce', 'code_challenge']) {
      t.match(parameters.get(name), /^[\w-]{43}$/)
      seen.add(parameters.get(name) ?? '')
    }
  }
  t.equal(seen.size, 30)
})

t.test("the response of another flow is the client's error, not the provider's", async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  for (const name of ['response', 'id_token', 'token', 'token_type', 'access_token']) {
    const answer = await browser.answer()
    answer.searchParams.set(name, 'x')
    t.match((await browser.send(answer.href)).json, { status: 400, errors: [{ path: `/${name}` }] }, name)
  }
  t.equal(world.acme.count('/token'), 0)
  t.same(world.events('sign_in_failed'), [])
})

t.test('HEAD is refused and does not consume the sign-in', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const answer = await browser.answer()
  t.equal((await browser.send(answer.href, { method: 'HEAD' })).status, 405)
  t.equal((await browser.send(answer.href)).status, 200)
})
