/** A real browser signs in, sees its page and signs out: on plain HTTP at localhost, and behind TLS. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { endTls, startChromium, startSite } from './chromium.ts'
import { startSignIn } from './world.ts'

const ORIGINS = {
  'http, at localhost': (port: number) => `http://localhost:${port}`,
  'https, ended before the gateway': async (port: number) => `https://localhost:${await endTls(t, port)}`,
}

/** The pages of the service. */
function servePage({ headers }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('content-type', 'text/html')
  response.end(`<h1>hello ${String(headers['x-seatgate-user'] ?? 'nobody')}</h1>
    <form method="post" action="/auth/oidc/logout"><button id="out">Sign out</button></form>`)
}

for (const [name, originOf] of Object.entries(ORIGINS)) {
  t.test(name, async (t) => {
    const world = await startSignIn(t, { answer: servePage, originOf })
    world.user('alice')
    const { origin, secrets } = world
    const browser = await startChromium(t)
    const page = await browser.newPage()

    await t.test('a sign-in ends on the requested page', async (t) => {
      await page.goto(`${origin}/pages/home?year=2026`)
      t.equal(new URL(page.url()).origin, world.acme.issuer, 'the browser is redirected to the provider')
      await signIn(page, 'alice', `${origin}/pages/home?year=2026`)
      t.equal(await page.textContent('h1'), 'hello alice')
      const cookies = await browser.cookies(origin)
      for (const { value } of cookies) secrets.add(value)
      t.match(cookies, [{ name: SESSION_COOKIE, httpOnly: true, secure: true, sameSite: 'Lax', path: '/' }])
      t.equal(cookies.length, 1, 'the cookie of the sign-in is deleted')
      t.equal(await page.evaluate('document.cookie'), '', 'scripts cannot read the cookies')
    })

    await t.test('the session counts on other pages and for requests of its own pages', async (t) => {
      await page.goto(`${origin}/pages/other`)
      t.equal(await page.textContent('h1'), 'hello alice')
      t.equal(await page.evaluate("fetch('/v1/me', { method: 'POST' }).then(({ status }) => status)"), 200)
    })

    await t.test('another site gains nothing', async (t) => {
      for (const path of ['/v1/me', '/auth/oidc/logout']) {
        const before = world.gateway.upstream.seen.length
        const answer = await postedByOtherSite(t, browser, origin + path)
        t.ok(path === '/v1/me' ? answer.status === 401 : answer.cookies === 1, `${path}: ${answer.status}`)
        t.equal(world.gateway.upstream.seen.slice(before).filter(({ method }) => method === 'POST').length, 0)
      }
      await page.goto(`${origin}/pages/home`)
      t.equal(await page.textContent('h1'), 'hello alice', 'the session is still valid')
    })

    await t.test('another site cannot start a sign-in at another tenant', async (t) => {
      const [session] = await browser.cookies(origin)
      const fields = '<input name="tenant" value="globex"><input name="return_to" value="/pages/a">'
      const answer = await postedByOtherSite(t, browser, `${origin}/auth/oidc/login`, fields)
      t.equal(answer.status, 403)
      t.same(await browser.cookies(origin), [session], 'no sign-in has begun')
    })

    await t.test('sign-out', async (t) => {
      await page.click('#out')
      await page.click('button[name=logout]')
      await page.waitForURL(`${origin}/bye`)
      t.same(await browser.cookies(origin), [])
      await page.goto(`${origin}/pages/home`)
      t.equal(new URL(page.url()).origin, world.acme.issuer, 'the provider asks for a login again')
      t.equal(await page.locator('input[name=login]').count(), 1)
    })
  })
}

t.test('ten tabs, cancelled consent, and Back', async (t) => {
  const originOf = (port: number) => `http://localhost:${port}`
  const world = await startSignIn(t, { answer: servePage, originOf })
  world.user('alice')
  const { origin, acme } = world
  const browser = await startChromium(t)
  const page = await browser.newPage()

  await t.test('cancelled: a page with a link to start again', async (t) => {
    await page.goto(`${origin}/pages/home`)
    await page.click('a[href$="/abort"]')
    await page.waitForURL(/callback\?error=access_denied/)
    t.match(await page.textContent('main'), /was cancelled/)
    t.equal(
      await page.evaluate('getComputedStyle(document.body).maxWidth !== "none"'),
      true,
      'the page has its style',
    )
    await page.click('text=Start again')
    t.equal(new URL(page.url()).origin, acme.issuer)
  })

  await t.test('ten tabs that open at once all complete', async (t) => {
    const tabs = await Promise.all(Array.from({ length: 10 }, () => browser.newPage()))
    await Promise.all(tabs.map((tab, i) => tab.goto(`${origin}/pages/${i}?tab=${i}`)))
    const waiting = (await browser.cookies(origin)).map(({ name }) => name)
    t.equal(waiting.length, 12, 'one cookie for each tab, for the first page and for the cancelled sign-in')
    for (const [i, tab] of tabs.entries()) {
      await answerProvider(tab, acme.issuer)
      t.equal(tab.url(), `${origin}/pages/${i}?tab=${i}`)
      t.equal(await tab.textContent('h1'), 'hello alice')
    }
    const left = await browser.cookies(origin)
    for (const { value } of left) world.secrets.add(value)
    t.equal(left.length, 3, 'the session, and the cookies of the first page')
    for (const tab of tabs) await tab.close()
  })

  await t.test('a callback that is repeated, as by Back', async (t) => {
    const requested = page.waitForRequest((request) => request.url().includes('/auth/oidc/callback'))
    await answerProvider(page, acme.issuer)
    const answer = (await requested).url()
    world.secrets.add(new URL(answer).searchParams.get('code') ?? '')
    await page.goto(answer)
    t.match(await page.textContent('main'), /already completed/)
    t.equal(await page.getAttribute('main a', 'href'), '/')
  })
})

/** Fills in the provider's pages until the browser returns. */
async function signIn(page: Page, user: string, back: string): Promise<void> {
  await page.fill('input[name=login]', user)
  await page.fill('input[name=password]', 'a password')
  await page.click('button[type=submit]')
  // The consent page has only its button.
  await page.locator('form:not(:has(input[name=login])) button[type=submit]').click()
  await page.waitForURL(back)
}

/** Handles each page of the provider: after the first time it remembers the user, and the consent. */
async function answerProvider(page: Page, issuer: string): Promise<void> {
  // A background tab draws no frames, and a click waits for the element to stop moving.
  await page.bringToFront()
  for (let steps = 0; new URL(page.url()).origin === issuer && steps < 5; steps++) {
    if ((await page.locator('input[name=login]').count()) > 0) {
      await page.fill('input[name=login]', 'alice')
      await page.fill('input[name=password]', 'a password')
    }
    const before = page.url()
    await page.click('button[type=submit]')
    await page.waitForURL((url) => url.href !== before)
  }
}

/** A page of another origin whose form is posted to the gateway. */
async function postedByOtherSite(t: Test, browser: BrowserContext, url: string, fields = '') {
  const html = `<form method="post" action="${url}">${fields}<button>Win a prize</button></form>`
  const site = await startSite(t, html)
  const page = await browser.newPage()
  await page.goto(site)
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url() === url),
    page.click('button'),
  ])
  await page.close()
  return { status: answer.status(), cookies: (await browser.cookies(url)).length }
}
