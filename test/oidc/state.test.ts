/**
 * State: the callback accepts only a sign-in that this browser began at this tenant within the last ten minutes,
 * once. Before that check the gateway sends no request to a provider.
 */

import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import t from 'tap'
import { signInCookieName, signInCookiesIn } from '../../src/oidc/session/cookies.ts'
import { moveClock } from '../sign-in/moving-clock.ts'
import type { Page } from '../sign-in/visitor.ts'
import { freshWorld, type SignInWorld, startOwn } from './world.ts'

const clock = moveClock(t)

function refused(t: Test, world: SignInWorld, page: Page, what: string): void {
  t.equal(page.status, 400, what)
  t.match(page.json, { code: 'input_invalid', errors: [{ path: '/state' }] }, what)
  t.equal(world.acme.count('/token') + world.globex.count('/token'), 0, `${what}: no token request`)
}

async function begunWorld() {
  const world = await freshWorld()
  world.user('alice', {})
  world.user('alice', {}, world.globex)
  const browser = world.visitor()
  return { world, browser, answer: await browser.answer() }
}

t.test('a missing state', async (t) => {
  const { world, browser, answer } = await begunWorld()
  answer.searchParams.delete('state')
  refused(t, world, await browser.send(answer.href), 'none')
  answer.searchParams.set('state', '')
  refused(t, world, await browser.send(answer.href), 'empty')
})

t.test('a forged state', async (t) => {
  const { world, browser, answer } = await begunWorld()
  const state = answer.searchParams.get('state') ?? ''
  // The browser sends its cookie under the name that each forged state refers to.
  const cookies = browser.cookies(world.origin)
  const binding = cookies.get(signInCookieName(state)) ?? ''
  for (const forged of ['x', 'A'.repeat(43), `${state}A`, state.slice(1), state.toLowerCase(), `${state} `]) {
    cookies.set(signInCookieName(forged), binding)
    answer.searchParams.set('state', forged)
    refused(t, world, await browser.send(answer.href), forged.length.toString())
  }
})

t.test('repeated in one request', async (t) => {
  const { world, browser, answer } = await begunWorld()
  const state = answer.searchParams.get('state') ?? ''
  for (const other of [state, 'x']) {
    const page = await browser.send(`${answer.href}&state=${other}`)
    refused(t, world, page, 'repeated')
  }
  t.equal((await browser.send(answer.href)).status, 200, 'the sign-in is not consumed')
})

t.test('a replayed state', async (t) => {
  const { world, browser, answer } = await begunWorld()
  const before = new Map(browser.cookies(world.origin))
  t.equal((await browser.send(answer.href)).status, 200)
  const tokenRequests = world.acme.count('/token')
  for (const [name, value] of before) browser.cookies(world.origin).set(name, value)
  const again = await browser.send(answer.href)
  t.equal(again.status, 400)
  t.match(again.json, { errors: [{ path: '/state' }] })
  t.equal(world.acme.count('/token'), tokenRequests, 'the provider received no further request')
})

t.test('twenty concurrent replays: one succeeds', async (t) => {
  const { world, browser, answer } = await begunWorld()
  const pages = await Promise.all(Array.from({ length: 20 }, () => browser.send(answer.href)))
  t.equal(pages.filter(({ status }) => status === 200).length, 1)
  t.equal(world.acme.count('/token'), 1)
})

t.test('a state of another browser (login CSRF) is refused and not consumed', async (t) => {
  const { world, browser, answer } = await begunWorld()
  const other = world.visitor('mallory')
  refused(t, world, await other.send(answer.href), 'without a cookie')
  const begun = await other.begin()
  const own = other.cookies(world.origin).get(signInCookieName(begun.json.state)) ?? ''
  const name = signInCookieName(answer.searchParams.get('state') ?? '')
  other.cookies(world.origin).set(name, own)
  refused(t, world, await other.send(answer.href), "with a cookie of one's own")
  const right = browser.cookies(world.origin).get(name) ?? ''
  const twice = await other.send(answer.href, { headers: { cookie: `${name}=${own}; ${name}=${right}` } })
  refused(t, world, twice, 'with both')
  t.equal((await browser.send(answer.href)).status, 200, 'the browser that began it can continue')
})

t.test("a state of another tenant's sign-in", async (t) => {
  const { world, browser, answer } = await begunWorld()
  const begun = await browser.begin('globex')
  answer.searchParams.set('state', begun.json.state)
  const page = await browser.send(answer.href)
  t.equal(page.status, 400)
  t.match(page.json, { errors: [{ path: '/iss' }] }, "globex does not accept acme's response")
  t.equal(world.acme.count('/token') + world.globex.count('/token'), 0, 'no token request')
})

t.test('after ten minutes', async (t) => {
  const { world, browser, answer } = await begunWorld()
  clock.pass(600_000)
  refused(t, world, await browser.send(answer.href), 'too late')
  clock.pass(-690_000)
  refused(t, world, await browser.send(answer.href), 'from the future')
  clock.pass(90_000)
})

t.test('before ten minutes', async (t) => {
  const { world, browser, answer } = await begunWorld()
  // What is left is for a slow machine.
  clock.pass(540_000)
  const page = await browser.send(answer.href)
  t.not(page.json.code, 'input_invalid', 'the state is still valid')
  t.equal(world.acme.count('/token'), 1)
})

t.test('a state of a removed configuration', async (t) => {
  const { world, browser, answer } = await begunWorld()
  await world.configure({ acme: { clientId: 'client_secret_basic-PS256' } })
  refused(t, world, await browser.send(answer.href), 'another client')
})

t.test('a callback at an address other than the redirect_uri', async (t) => {
  const { world, browser, answer } = await begunWorld()
  answer.pathname = '/auth/oidc/callback/globex'
  refused(t, world, await browser.send(answer.href), "another tenant's callback")
})

t.test('the cookie is refused when changed, and for another state, tenant, client or time', async (t) => {
  const { world, browser, answer } = await begunWorld()
  const state = answer.searchParams.get('state') ?? ''
  const name = signInCookieName(state)
  const cookies = browser.cookies(world.origin)
  const good = cookies.get(name) ?? ''
  t.notMatch(good, state, 'the cookie does not reveal the state')
  const [tenant = '', time = '', sealed = ''] = good.split('.')
  const other = await browser.begin()
  const later = (Number.parseInt(time, 36) + 1).toString(36)
  const flipped = sealed.slice(0, -2) + (sealed.at(-2) === 'A' ? 'gA' : 'AA')
  for (const wrong of [
    '',
    tenant,
    `${tenant}.${time}`,
    `${tenant}.${time}.`,
    `globex.${time}.${sealed}`,
    `initech.${time}.${sealed}`,
    `__proto__.${time}.${sealed}`,
    `${tenant}.${later}.${sealed}`,
    `${tenant}.0.${sealed}`,
    `${tenant}.0${time}.${sealed}`,
    `${tenant}.${time}.${sealed.slice(0, -1)}`,
    `${tenant}.${time}.${sealed}A`,
    `${tenant}.${time}.${sealed}=`,
    `${tenant}.${time}.${flipped}`,
    `${tenant}.${time}.${'A'.repeat(sealed.length)}`,
    cookies.get(signInCookieName(other.json.state)) ?? '',
  ]) {
    const page = await browser.send(answer.href, { headers: { cookie: `${name}=${wrong}` } })
    refused(t, world, page, wrong.slice(0, 24))
  }
  t.equal((await browser.send(answer.href)).status, 200)
})

t.test('after a change of secrets, sealed state opens while the old secret is configured', async (t) => {
  const env = { NEW_SECRET: randomBytes(32).toString('hex') }
  for (const [secrets, status] of [
    ['"${NEW_SECRET}", "${ACME_SECRET}"', 200],
    ['"${NEW_SECRET}"', 400],
  ] as const) {
    const { world, browser, answer } = await begunWorld()
    await world.configure({ token: [`secrets: [${secrets}]`], env })
    t.equal((await browser.send(answer.href)).status, status, secrets)
  }
})

t.test('a sign-in that began in another memory, such as before a restart', async (t) => {
  const { world, browser, answer } = await begunWorld()
  // The same secrets, provider and client.
  const forgetful = await startOwn(t, { acme: world.acme.config() })
  const other = forgetful.visitor().withCookiesOf(browser)
  const send = (url: URL) => other.send(`${forgetful.origin}${url.pathname}${url.search}`)
  refused(t, world, await send(answer), 'the memory is another one')
  t.equal((await send(await other.answer())).status, 200, 'what it began itself')
})

/** Characters of these cookies in the Cookie of a request. */
function lengthOf(cookies: ReadonlyMap<string, string>): number {
  return [...cookies].reduce((sum, [name, value]) => sum + name.length + value.length + 3, 0)
}

t.test('twenty concurrent sign-ins have small cookies, and each leads to its page', async (t) => {
  const { world } = await begunWorld()
  const browser = world.visitor()
  const pages = Array.from({ length: 20 }, (_, at) => `/pages/report/${at}?year=2026`)
  const begun = await Promise.all(pages.map((return_to) => browser.begin('acme', { return_to })))
  t.equal(browser.cookies(world.origin).size, 20)
  t.ok(lengthOf(browser.cookies(world.origin)) <= 4096)
  for (const [i, { json }] of begun.entries()) {
    const stopped = await browser.walk(json.authorization_url, (url) => url.startsWith(`${world.origin}/`))
    const page = await browser.send(stopped.headers.location ?? '')
    t.equal(page.headers.location, world.origin + pages[i])
  }
})

t.test('the cookies have 4 KiB in all; the newest sign-in completes', async (t) => {
  const { world } = await begunWorld()
  const browser = world.visitor()
  const cookies = browser.cookies(world.origin)
  const begin = async (length: number) => {
    // The cookies carry their age in whole seconds.
    clock.pass(1000)
    const { state } = (await browser.begin('acme', { return_to: `/${'a'.repeat(length)}` })).json
    t.ok(lengthOf(cookies) <= 4096, `${length}: ${lengthOf(cookies)}`)
    t.ok(cookies.has(signInCookieName(state)))
  }
  for (let tab = 0; tab < 9; tab++) await begin(800)
  for (const length of [2000, 800, 100, 800]) await begin(length)
  t.equal((await browser.send((await browser.answer()).href)).status, 200)
  clock.pass(-13_000)
})

t.test('so too if a browser restores nine tabs at once', async (t) => {
  const { world } = await begunWorld()
  const browser = world.visitor()
  const return_to = `/${'a'.repeat(800)}`
  const begun = await Promise.all(Array.from({ length: 9 }, () => browser.begin('acme', { return_to })))
  t.ok(lengthOf(browser.cookies(world.origin)) <= 4096)
  const left: string[] = []
  for (const { json } of begun) {
    const stopped = await browser.walk(json.authorization_url, (url) => url.startsWith(`${world.origin}/`))
    const { status, headers } = await browser.send(stopped.headers.location ?? '')
    if (status === 303) left.push(headers.location ?? '')
  }
  t.ok(left.length > 0, `${left.length} of the sign-ins complete`)
  t.ok(left.every((location) => location === world.origin + return_to))
})

t.test('foreign and partial cookies are not sign-in cookies', async (t) => {
  const name = signInCookieName('x'.repeat(43))
  const read = (...lines: string[]) => signInCookiesIn(lines).map((each) => each.name)
  t.same(read(`a=b; ${name}=1;${name}2=2`, ` ${name}3 =3`), [name, `${name}2`, `${name}3`])
  t.same(read(`x${name}=1; ${name}; a=${name}=1; =${name}=1; ${name}.9=1`), [])
})
