/**
 * Login CSRF: a page of another site posts a form that begins a sign-in in its visitor's browser, at a tenant of its
 * choice, whose provider signs in any user. The visitor's own session must not end by it.
 */

import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { NAVIGATION } from '../sign-in/visitor.ts'
import { served } from '../support/served.ts'
import { announced, freshWorld } from '../oidc/world.ts'

const FORM = 'application/x-www-form-urlencoded'
const LISTED = 'https://www.globex.example'

async function victimWorld() {
  const world = await freshWorld({ globex: { origins: [LISTED] } })
  world.user('victim', {})
  world.user('victim', {}, world.globex)
  const victim = world.visitor('victim')
  await victim.page('/pages/home')
  const fields = { tenant: 'globex', return_to: '/globex/a' }
  const post = (headers: Readonly<Record<string, string>>, more = {}) =>
    victim.post(`${world.origin}/auth/oidc/login`, { ...fields, ...more }, headers)
  return { world, victim, post }
}

t.test('the form of another site', async (t) => {
  const { world, victim, post } = await victimWorld()
  const { port } = new URL(world.origin)
  const before = victim.cookies(world.origin).size
  for (const headers of [
    {},
    { origin: 'https://evil.example' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: '' },
    { origin: `${world.origin}/` },
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: `http://127.0.0.1:${port}.evil.example` },
    { origin: `${world.origin}, https://evil.example` },
    { origin: world.origin, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { origin: 'https://evil.example', host: '127.0.0.1', 'x-forwarded-host': 'evil.example' },
    { origin: 'http://evil.example', host: 'evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: `${LISTED}.evil.example` },
    // The scheme counts: the gateway is at http:// here, and at https:// it is the other way round.
    { origin: `https://127.0.0.1:${port}` },
    { origin: 'https://gw.example', host: 'gw.example' },
    { referer: `${world.origin}/pages/a` },
    { 'content-type': `${FORM}; charset=utf-8`, origin: 'https://evil.example' },
    { 'content-type': 'text/plain', origin: 'https://evil.example' },
    { 'content-type': 'multipart/form-data; boundary=x', origin: 'https://evil.example' },
  ] as Record<string, string>[]) {
    const page = await post(headers)
    t.match(page.json, { status: 403, code: 'origin_refused' }, JSON.stringify(headers))
    t.equal(page.headers['set-cookie'], undefined)
    t.equal(page.headers.location, undefined)
  }
  t.equal(victim.cookies(world.origin).size, before)
  const { json } = await served(() => victim.send(`${world.origin}/v1/me`))
  t.equal(json.tenant, 'acme', 'the session is still valid')
})

t.test("forms of the gateway's own pages, and of origins that the tenant lists", async (t) => {
  const { world, post } = await victimWorld()
  for (const headers of [
    { origin: world.origin },
    { 'sec-fetch-site': 'same-origin' },
    { origin: world.origin, 'sec-fetch-site': 'same-origin' },
    { origin: 'http://gw.example', host: 'gw.example' },
    { origin: LISTED },
    { origin: LISTED, 'sec-fetch-site': 'cross-site' },
  ] as Record<string, string>[])
    t.equal((await post(headers)).status, 303, JSON.stringify(headers))
  const other = await post({ origin: LISTED }, { tenant: 'acme' })
  t.equal(other.status, 403, "another tenant's list does not count")
  for (const type of ['text/plain', 'multipart/form-data; boundary=x'])
    t.equal((await post({ origin: world.origin, 'content-type': type })).status, 415)
})

t.test('programs send JSON without Origin', async (t) => {
  const { world } = await victimWorld()
  t.equal((await world.visitor('victim').signIn('globex')).status, 200)
})

t.test('a sign-in ends no session of another tenant', async (t) => {
  const { world, victim, post } = await victimWorld()
  const acme = victim.cookies(world.origin).get(SESSION_COOKIE) ?? ''
  const page = await victim.onward(await post({ origin: world.origin, ...NAVIGATION }))
  t.match(page.json, { tenant: 'globex' })
  const other = world.visitor()
  other.cookies(world.origin).set(SESSION_COOKIE, acme)
  t.match((await served(() => other.send(`${world.origin}/v1/me`))).json, { tenant: 'acme' })
  t.same(announced(world), [])
})

t.test('a page at http:// of a gateway that is served by HTTPS', async (t) => {
  const world = await freshWorld({ acme: { redirectUri: 'https://gw.example/auth/oidc/callback' } })
  const post = async (origin: string) => {
    const headers = { origin, host: 'gw.example' }
    return (await world.visitor().post(`${world.origin}/auth/oidc/login`, { tenant: 'acme' }, headers)).status
  }
  t.equal(await post('http://gw.example'), 403)
  t.equal(await post('https://gw.example'), 303)
})
