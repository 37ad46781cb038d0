/** Cross-site requests with the session cookie: unsafe methods ignore the session. */

import t from 'tap'
import { CorsPolicy } from '../../src/model/cors.ts'
import { isCookieAccepted, isNavigation, isSameOrigin } from '../../src/oidc/sign-in/browser.ts'
import { freshWorld, shareWorld } from './world.ts'

shareWorld({ top: ['methods: [PURGE]'] })

t.test('cross-site requests', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  const url = `${world.origin}/v1/me`
  const { port } = new URL(world.origin)
  const bad: Record<string, string>[] = [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `https://127.0.0.1:${port}` },
    { origin: `http://127.0.0.1:${port}.evil.example` },
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: `${world.origin}/` },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { origin: world.origin, 'sec-fetch-site': 'cross-site' },
    { referer: `${world.origin}/pages/a` },
    { 'x-requested-with': 'XMLHttpRequest' },
  ]
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PURGE']) {
    for (const headers of bad) {
      const page = await browser.send(url, { method, headers })
      t.equal(page.status, 401, `${method} ${JSON.stringify(headers)}`)
      t.equal(page.json.code, 'credentials_missing')
    }
    for (const headers of [
      { origin: world.origin },
      { 'sec-fetch-site': 'same-origin' },
      { origin: world.origin, 'sec-fetch-site': 'same-origin' },
    ] as Record<string, string>[]) {
      const page = await browser.send(url, { method, headers })
      t.equal(page.status, 200, `${method} ${JSON.stringify(headers)}`)
    }
  }
  const read = await browser.send(url, { headers: { 'sec-fetch-site': 'cross-site' } })
  t.equal(read.status, 200, 'safe methods accept the cookie')
})

t.test('cross-site logout', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  for (const headers of [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' },
    { origin: 'https://evil.example', 'content-type': 'text/plain' },
  ] as Record<string, string>[]) {
    const page = await browser.post(`${world.origin}/auth/oidc/logout`, {}, headers)
    t.match(page.json, { status: 403, code: 'origin_refused' }, JSON.stringify(headers))
    t.equal(page.headers['set-cookie'], undefined)
  }
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200, 'the session is still valid')

  // SameSite keeps the cookie out of another site's form. The response must not delete the cookie either.
  const bare = await world
    .visitor()
    .post(`${world.origin}/auth/oidc/logout`, {}, { origin: 'https://evil.example' })
  t.equal(bare.headers['set-cookie'], undefined)
})

t.test('a cross-site WebSocket', async (t) => {
  const own = 'https://gw.example'
  const rawHeaders = ['Origin', 'https://evil.example', 'Upgrade', 'websocket']
  t.notOk(isCookieAccepted({ method: 'GET', rawHeaders, upgrade: true }, own))
  t.ok(isCookieAccepted({ method: 'GET', rawHeaders: ['Origin', own], upgrade: true }, own))
  t.ok(isCookieAccepted({ method: 'GET', rawHeaders, upgrade: false }, own))
})

t.test('origins that a route table lists', async (t) => {
  const own = 'https://gw.example'
  const app = 'https://app.example'
  const policy = (origins: string[], credentials: boolean) =>
    new CorsPolicy({ origins, credentials, headers: [], expose: [], maxAge: 0 })
  const listed = policy([app], true)
  for (const upgrade of [true, false]) {
    const from = (...rawHeaders: string[]) => ({ method: upgrade ? 'GET' : 'POST', rawHeaders, upgrade })
    t.ok(isCookieAccepted(from('Origin', app), own, listed))
    t.ok(isCookieAccepted(from('origin', app, 'Sec-Fetch-Site', 'same-site'), own, listed))
    t.notOk(isCookieAccepted(from('Origin', app), own, null))
    t.notOk(isCookieAccepted(from('Origin', app), own, policy([app], false)))
    t.notOk(isCookieAccepted(from('Origin', '*'), own, policy(['*'], true)), 'no policy that loads')
    t.notOk(isCookieAccepted(from('Origin', 'null'), own, policy(['null'], true)), 'nor this')
    t.notOk(isCookieAccepted(from('Origin', app, 'Origin', app), own, listed))
    t.notOk(isCookieAccepted(from('Sec-Fetch-Site', 'same-site'), own, listed))
    t.notOk(isCookieAccepted(from('Origin', app, 'Sec-Fetch-Site', 'cross-site'), own, listed))
    const twice = from('Origin', app, 'Sec-Fetch-Site', 'same-site', 'Sec-Fetch-Site', 'same-site')
    t.notOk(isCookieAccepted(twice, own, listed))
  }
})

t.test('repeated headers', async (t) => {
  const own = 'https://gw.example'
  t.notOk(isSameOrigin(['Origin', own, 'Origin', 'https://evil.example'], own))
  t.notOk(isSameOrigin(['Origin', own, 'origin', own], own))
  t.notOk(isSameOrigin(['Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Site', 'cross-site'], own))
})

t.test('which requests are navigations', async (t) => {
  const html = ['Accept', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8']
  t.ok(isNavigation('GET', html))
  t.ok(isNavigation('GET', [...html, 'Sec-Fetch-Mode', 'navigate']))
  t.ok(isNavigation('GET', ['accept', 'application/json, TEXT/HTML ;q=0.5']))
  for (const [method, headers] of [
    ['POST', html],
    ['HEAD', html],
    ['GET', []],
    ['GET', ['Accept', '*/*']],
    ['GET', ['Accept', 'application/json']],
    ['GET', ['Accept', 'text/html;q=0']],
    ['GET', ['Accept', 'text/htmlx']],
    ['GET', [...html, 'Sec-Fetch-Mode', 'cors']],
    ['GET', [...html, 'Sec-Fetch-Mode', 'no-cors']],
    ['GET', [...html, 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Mode', 'cors']],
  ] as const)
    t.notOk(isNavigation(method, headers), `${method} ${headers.join(' ')}`)
})
