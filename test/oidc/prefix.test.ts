/** Sign-in behind `api.auth_prefix`, as a whole: the gateway has one prefix, and the provider knows the address with it. */

import { randomUUID } from 'node:crypto'
import t from 'tap'
import { Client } from '../support/client.ts'
import { EVENTS, Transmitter } from '../support/transmitter.ts'
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

t.test(
  'signals of the provider: the address is that of redirect_uri with the prefix, and never of Host',
  async (t) => {
    const transmitter = await Transmitter.start(t)
    const { audience, issuer } = transmitter
    const events = { audience, issuer, jwksUri: null, authorization: null }
    const world = await freshWorld({ acme: { revocation: true, events } })
    world.user('alice', {})
    const browser = world.visitor()
    const begun = await browser.postJson(`${world.origin}${prefix}/auth/oidc/login`, { tenant: 'acme' })
    t.equal((await browser.walk(begun.json.authorization_url)).status, 200)
    const path = '/auth/oidc/global-token-revocation/acme'
    const subject = { format: 'iss_sub', iss: world.acme.issuer, sub: 'alice' }
    const client = new Client(world.gateway.port)
    t.teardown(() => client.close())
    const revoke = async (aud: string, host: string, at = prefix + path) => {
      const now = Math.floor(Date.now() / 1000)
      const times = { iat: now, exp: now + 300, jti: randomUUID() }
      const token = await world.acme.sign({ iss: world.acme.issuer, aud, ...times })
      const headers = { host, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      return (await client.send('POST', at, headers, JSON.stringify({ sub_id: subject }))).status
    }
    const { host } = new URL(world.origin)
    const own = world.origin + prefix + path
    t.equal(await revoke(own, host), 204)
    t.equal(await revoke(own, 'other.example'), 204)
    t.equal(await revoke(`http://other.example${prefix}${path}`, 'other.example'), 401)
    t.equal(await revoke(world.origin + path, host), 401, 'without the prefix')
    t.equal(await revoke(own, host, path), 404)
    const push = async (at: string) => (await transmitter.push(at, EVENTS.sessionRevoked, subject)).status
    t.equal(await push(`${world.origin}${prefix}/auth/ssf/acme`), 202)
    t.equal(await push(`${world.origin}/auth/ssf/acme`), 404)
  },
)
