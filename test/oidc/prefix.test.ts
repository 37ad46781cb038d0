/** Sign-in behind `api.auth_prefix`, as a whole: the gateway has one prefix, and the provider knows the address with it. */

import t from 'tap'
import { freshWorld, shareWorld } from './world.ts'

const prefix = '/_gate'
shareWorld({
  top: [`api: { auth_prefix: ${prefix} }`],
  providers: (origin) => ({ redirectUri: `${origin}${prefix}/auth/oidc/callback` }),
})

t.test('a program signs in, refreshes and signs out', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const at = `${world.origin}${prefix}/auth/oidc`
  const begun = await browser.postJson(`${at}/login`, { tenant: 'acme' })
  const back = await browser.walk(begun.json.authorization_url)
  t.match(back, { status: 200, json: { token_type: 'Bearer', user: { sub: 'alice' } } })
  const again = await browser.postJson(`${at}/refresh`, { refresh_token: back.json.refresh_token })
  t.equal(again.status, 200)
  const out = await browser.postJson(`${at}/logout`, { refresh_token: again.json.refresh_token })
  t.match(out, { status: 200, json: { logged_out: true } })
})

t.test('a browser signs in for a page, and has a session', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const page = await browser.walk(`${world.origin}/pages/report`)
  t.equal(page.url, `${world.origin}/pages/report`)
  t.match(page.json, { auth: 'session', user: 'alice' })
})

t.test('a sign-in does not complete at another address than its redirect_uri', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const { json } = await browser.postJson(`${world.origin}${prefix}/auth/oidc/login`, { tenant: 'acme' })
  const page = await browser.walk(json.authorization_url, (url) => url.includes('/callback'))
  const own = new URL(page.headers.location ?? '')
  own.pathname = `${prefix}/auth/oidc/callback/acme`
  t.match(await browser.send(own.href), { status: 400, json: { code: 'input_invalid' } })
})
