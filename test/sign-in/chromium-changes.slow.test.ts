/**
 * Changes at the gateway's own endpoints from pages in a real browser, which sends the session cookie with them: our own page,
 * and a page of the same site at another port, for which SameSite does not withhold it.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import { until } from '../support/until.ts'
import { startChromium, startSite } from './chromium.ts'
import { startSignIn } from './world.ts'

/** As strict as the console's pages. */
function servePage(_request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('content-type', 'text/html')
  response.setHeader('referrer-policy', 'no-referrer')
  response.end('<h1>our own page</h1>')
}

t.test('changes by session cookie', async (t) => {
  const originOf = (port: number) => `http://localhost:${port}`
  const world = await startSignIn(t, { answer: servePage, originOf })
  const { origin, gateway } = world
  await gateway.seat('Admins', ['admin'], ['*'])
  world.user('alice', { memberOf: ['Admins'] })
  const browser = await startChromium(t)
  const page = await browser.newPage()
  await page.goto(`${origin}/pages/home`)
  await page.fill('input[name=login]', 'alice')
  await page.fill('input[name=password]', 'a password')
  await page.click('button[type=submit]')
  await page.locator('form:not(:has(input[name=login])) button[type=submit]').click()
  await page.waitForURL(`${origin}/pages/home`)
  for (const { value } of await browser.cookies(origin)) world.secrets.add(value)

  const create = (name: string) =>
    `fetch('/v1/seats', { method: 'POST', headers: { 'content-type': 'application/json', space: 'admin' },
      body: JSON.stringify({ name: '${name}', spaces: [], permissions: [] }) }).then(({ status }) => status)`
  const names = async (): Promise<string[]> =>
    (await gateway.admin('GET', '/v1/seats')).json.data.map(({ name }: { name: string }) => name)

  await t.test('our own page, also without referrers', async (t) => {
    t.equal(await page.evaluate(create('Own')), 200)
    t.same(await names(), ['admin', 'Admins', 'Own'])
  })

  await t.test('a page of the same site at another port', async (t) => {
    const form = `<form method="post" enctype="text/plain" target="_blank" action="${origin}/v1/seats">
      <input name='{"name":"Form","spaces":[],"permissions":[],"x":"' value='"}'><button id="send">Send</button></form>`
    const site = (await startSite(t, form)).replace('127.0.0.1', 'localhost')
    const evil = await browser.newPage()
    await evil.goto(site)
    const refused = () =>
      gateway.log().filter(({ code, msg }) => msg === 'request' && code === 'origin_refused').length
    const before = refused()
    const body = JSON.stringify({ name: 'Evil', spaces: [], permissions: [] })
    const sends = [
      `fetch('${origin}/v1/seats', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '${body}' })`,
      `fetch('${origin}/auth/oidc/logout', { method: 'POST', mode: 'no-cors', credentials: 'include' })`,
      `navigator.sendBeacon('${origin}/v1/api-keys', '${body}')`,
      `document.getElementById('send').click()`,
    ]
    for (const [at, send] of sends.entries()) {
      await evil.evaluate(`void ${send}`)
      await until(
        () => refused() === before + at + 1,
        () => `${send} is not refused for its origin`,
      )
    }
    for (const method of ['PUT', 'DELETE', 'POST']) {
      const send = `fetch('${origin}/v1/seats/x', { method: '${method}', credentials: 'include',
        headers: { 'content-type': 'application/json', space: 'admin' }, body: '{}' }).then(() => 'sent', () => 'no preflight')`
      t.equal(await evil.evaluate(send), 'no preflight', method)
    }
    t.same(await names(), ['admin', 'Admins', 'Own'])
    const me = "fetch('/auth/oidc/me').then((answer) => answer.json())"
    t.match(await page.evaluate(me), { user: 'alice', auth: 'session' }, 'the session is still valid')
  })
})
