/** Cross-site requests with the session cookie: unsafe methods ignore the session. */

import t from 'tap'
import { isCookieAccepted, isNavigation, isSameOrigin } from '../../src/oidc/sign-in/browser.ts'
import { startWorld } from './world.ts'

t.test('cross-site requests', async (t) => {
  const world = await startWorld(t)
  world.user('alice', {})
  const browser = world.browser()
  await world.signInAtPage(browser)
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
  const world = await startWorld(t)
  world.user('alice', {})
  const browser = world.browser()
  await world.signInAtPage(browser)
  for (const headers of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const page = await browser.post(`${world.origin}/auth/oidc/logout`, {}, headers as Record<string, string>)
    t.equal(page.status, 401)
    t.equal(page.headers['set-cookie'], undefined)
  }
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200, 'the session is still valid')

  // SameSite keeps the cookie out of another site's form. The response must not delete the cookie either.
  const bare = await world
    .browser()
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
