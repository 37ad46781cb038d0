/** A real browser on pages of several origins: what CORS of the route tables lets them send and read. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { useTables } from '../support/cors.ts'
import { startChromium, startSite } from './chromium.ts'
import { type SignInWorld, startSignIn } from './world.ts'

/** The service; it says that every page may read it, which tables with `cors` replace. */
function serve({ headers, url }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('etag', '"1"')
  response.setHeader('x-hidden', 'secret')
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ url, user: headers['x-seatgate-user'] ?? null }))
}

interface Got {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Record<string, string>
}

/** What `fetch` of the page gives; null: the browser gives it nothing. */
function call(page: Page, url: string, init: object = {}): Promise<Got | null> {
  const script = `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(
    async (r) => ({ status: r.status, body: await r.json(), headers: Object.fromEntries(r.headers) }),
    () => null)`
  return page.evaluate(script)
}

function requests({ gateway }: SignInWorld): string[] {
  return gateway.upstream.seen.map(({ method, url }) => `${method} ${url}`)
}

async function start(t: Test) {
  const world = await startSignIn(t, { answer: serve, originOf: (port) => `http://localhost:${port}` })
  world.user('alice')
  // Another port is another origin of the same site; another name of this machine is another site.
  const site = (name: string) => startSite(t, `<title>${name}</title>`)
  const onSite = async (name: string) => (await site(name)).replace('127.0.0.1', 'localhost')
  const [listed, other, foreign] = await Promise.all([onSite('listed'), onSite('other'), site('foreign')])
  await useTables(world.gateway, {
    main: {
      cors: `{ origins: ["${listed}", "${foreign}"], credentials: true, headers: [if-match], expose: [etag] }`,
      routes: [
        'ANY /doc: public',
        'ANY /v1/me: authenticated',
        'GET /v1/items: items:list',
        'GET /pages/*: { permission: authenticated, sign_in: acme }',
      ],
    },
    open: { cors: '{ origins: ["*"] }', routes: ['GET /open: public', 'GET /open/me: authenticated'] },
    plain: { cors: '', routes: ['GET /plain: public'] },
  })
  return { world, listed, other, foreign }
}

t.test('pages of other origins', async (t) => {
  const { world, listed, other, foreign } = await start(t)
  const { origin, gateway } = world
  const browser = await startChromium(t)
  const pageAt = async (url: string) => {
    const page = await browser.newPage()
    await page.goto(url)
    return page
  }
  const [page, stranger, abroad] = [await pageAt(listed), await pageAt(other), await pageAt(foreign)]

  await t.test('a simple request', async (t) => {
    const got = await call(page, `${origin}/doc`)
    t.match(got, { status: 200, body: { url: '/doc' } })
    t.equal(got?.headers['etag'], '"1"', 'listed')
    t.ok(got?.headers['x-request-id'], 'always')
    t.equal(got?.headers['x-hidden'], undefined, 'not listed')
  })

  await t.test('a preflighted one', async (t) => {
    const before = requests(world).length
    const init = {
      method: 'PUT',
      headers: { 'if-match': '"1"', 'content-type': 'application/json' },
      body: '{}',
    }
    t.match(await call(page, `${origin}/doc`, init), { status: 200 })
    t.same(requests(world).slice(before), ['PUT /doc'], 'the upstream receives no preflight')
    t.equal(gateway.log().filter(({ preflight }) => preflight === true).length, 1)
    const unlisted = { method: 'PUT', headers: { 'x-other': '1' } }
    t.equal(await call(page, `${origin}/doc`, unlisted), null, 'a header that is not listed')
    t.equal(await call(page, `${origin}/v1/items`, { method: 'DELETE' }), null, 'a method without an entry')
    t.equal(requests(world).length, before + 1)
  })

  await t.test('refusals are readable', async (t) => {
    const bare = await call(page, `${origin}/v1/items`)
    t.match(bare, { status: 401, body: { code: 'credentials_missing' } })
    t.match(bare?.headers['www-authenticate'], /^Bearer /)
    await gateway.seat('Other', ['main'], ['other:thing'])
    const authorization = `Bearer ${await gateway.token(['main:Other'])}`
    const denied = await call(page, `${origin}/v1/items`, { headers: { authorization, space: 'main' } })
    t.match(denied, { status: 403, body: { code: 'permission_denied', request_id: String } })
    t.equal(denied?.body['request_id'], denied?.headers['x-request-id'])
  })

  await t.test('a page that is not listed sends nothing new, and reads nothing', async (t) => {
    const before = requests(world).length
    t.equal(await call(stranger, `${origin}/doc`, { method: 'DELETE' }), null)
    t.equal(requests(world).length, before, 'the preflight is refused')
    t.equal(await call(stranger, `${origin}/doc`), null)
    t.same(requests(world).slice(before), ['GET /doc'], 'a link could do that too')
    t.equal(await call(stranger, `${origin}/v1/items`), null, 'nor refusals')
    t.match(
      await call(stranger, `${origin}/plain`),
      { status: 200 },
      'a table without cors: as the service says',
    )
  })

  await t.test('with the session cookie', async (t) => {
    const own = await pageAt(`${origin}/pages/home`)
    await own.fill('input[name=login]', 'alice')
    await own.fill('input[name=password]', 'a password')
    await own.click('button[type=submit]')
    await own.locator('form:not(:has(input[name=login])) button[type=submit]').click()
    await own.waitForURL(`${origin}/pages/home`)
    for (const { value } of await browser.cookies(origin)) world.secrets.add(value)
    const include = { credentials: 'include' }
    const alice = { status: 200, body: { user: 'alice' } }

    t.match(await call(page, `${origin}/v1/me`, include), alice)
    for (const method of ['POST', 'PUT', 'DELETE'])
      t.match(await call(page, `${origin}/v1/me`, { ...include, method }), alice, method)
    t.match(await call(page, `${origin}/v1/me`), { status: 401 }, 'a page has to ask for it')

    const before = requests(world).length
    t.equal(await call(stranger, `${origin}/v1/me`, { ...include, method: 'POST' }), null)
    t.equal(requests(world).length, before, 'a simple POST with the cookie of the same site does not pass')
    t.equal(await call(stranger, `${origin}/v1/me`, include), null, 'a GET passes, and is not readable')
    const elsewhere = await call(abroad, `${origin}/v1/me`, { ...include, method: 'POST' })
    t.match(elsewhere, { status: 401 }, 'another site is listed, and its requests carry no cookie')
  })

  await t.test('two tables with their own policies', async (t) => {
    for (const each of [page, stranger, abroad])
      t.match(await call(each, `${origin}/open`), { status: 200 }, each.url())
    const got = await call(page, `${origin}/open`)
    t.equal(got?.headers['etag'], undefined, 'the other table lists it')
    const include = { credentials: 'include' }
    for (const each of [page, stranger])
      t.equal(await call(each, `${origin}/open/me`, include), null, 'never with credentials')
    t.equal(await call(page, `${origin}/open`, { headers: { 'if-match': '1' } }), null)
  })

  await t.test('a sandboxed page matches no origin', async (t) => {
    for (const path of ['/doc', '/open']) {
      const script = `fetch('${origin}${path}').then(() => 'read', () => 'nothing')`
      const html = `<script>${script}.then((it) => { parent.postMessage(it, '*') })</script>`
      const asked = `new Promise((done) => {
        addEventListener('message', ({ data }) => done(data), { once: true })
        const frame = document.createElement('iframe')
        frame.sandbox = 'allow-scripts'
        frame.srcdoc = ${JSON.stringify(html).replaceAll('</', '<\\/')}
        document.body.append(frame)
      })`
      t.equal(await page.evaluate(asked), 'nothing', path)
    }
  })
})
