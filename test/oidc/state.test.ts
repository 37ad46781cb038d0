/**
 * State: the callback counts only for a sign-in that this browser began, once, for ten minutes, at this tenant. Until
 * that is known, nothing is sent to any provider.
 */

import type { Test } from 'tap'
import t from 'tap'
import type { Context } from '../../src/oidc/context.ts'
import { signInCookie, signInCookiesIn } from '../../src/oidc/cookies.ts'
import type { Provider } from '../../src/oidc/provider.ts'
import { beginState } from '../../src/oidc/state.ts'
import type { Page } from './browser-client.ts'
import { type SignInWorld, startWorld } from './world.ts'

function refused(t: Test, world: SignInWorld, page: Page, what: string): void {
  t.equal(page.status, 400, what)
  t.match(page.json, { code: 'input_invalid', errors: [{ path: '/state' }] }, what)
  t.equal(world.acme.count('/token') + world.globex.count('/token'), 0, `${what}: no token request`)
}

async function begunWorld(t: Test) {
  const world = await startWorld(t)
  world.user('alice', {})
  world.user('alice', {}, world.globex)
  const browser = world.browser()
  return { world, browser, answer: await world.answer(browser) }
}

t.test('missing', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  answer.searchParams.delete('state')
  refused(t, world, await browser.send(answer.href), 'none')
  answer.searchParams.set('state', '')
  refused(t, world, await browser.send(answer.href), 'empty')
})

t.test('forged', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  const state = answer.searchParams.get('state') ?? ''
  // Under the name that each forged state would look for, the browser shows the cookie that it has.
  const cookies = browser.cookies(world.origin)
  const binding = cookies.get(signInCookie(state)) ?? ''
  for (const forged of ['x', 'A'.repeat(43), `${state}A`, state.slice(1), state.toLowerCase(), `${state} `]) {
    cookies.set(signInCookie(forged), binding)
    answer.searchParams.set('state', forged)
    refused(t, world, await browser.send(answer.href), forged.length.toString())
  }
})

t.test('twice in one request', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  const state = answer.searchParams.get('state') ?? ''
  for (const other of [state, 'x']) {
    const page = await browser.send(`${answer.href}&state=${other}`)
    refused(t, world, page, 'repeated')
  }
  t.equal((await browser.send(answer.href)).status, 200, 'and the sign-in is not used up')
})

t.test('replayed', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  const before = new Map(browser.cookies(world.origin))
  t.equal((await browser.send(answer.href)).status, 200)
  const asked = world.acme.count('/token')
  for (const [name, value] of before) browser.cookies(world.origin).set(name, value)
  const again = await browser.send(answer.href)
  t.equal(again.status, 400)
  t.match(again.json, { errors: [{ path: '/state' }] })
  t.equal(world.acme.count('/token'), asked, 'the provider was not asked again')
})

t.test('replayed at the same time: one of twenty is served', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  const pages = await Promise.all(Array.from({ length: 20 }, () => browser.send(answer.href)))
  t.equal(pages.filter(({ status }) => status === 200).length, 1)
  t.equal(world.acme.count('/token'), 1)
})

t.test('from another browser (login CSRF), which does not use it up', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  const other = world.browser('mallory')
  refused(t, world, await other.send(answer.href), 'without a cookie')
  const begun = await world.begin(other)
  const own = other.cookies(world.origin).get(signInCookie(begun.json.state)) ?? ''
  const name = signInCookie(answer.searchParams.get('state') ?? '')
  other.cookies(world.origin).set(name, own)
  refused(t, world, await other.send(answer.href), "with a cookie of one's own")
  const right = browser.cookies(world.origin).get(name) ?? ''
  const twice = await other.send(answer.href, { headers: { cookie: `${name}=${own}; ${name}=${right}` } })
  refused(t, world, twice, 'with both')
  t.equal((await browser.send(answer.href)).status, 200, 'the browser that began it goes on')
})

t.test("of another tenant's sign-in", async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  const begun = await world.begin(browser, 'globex')
  answer.searchParams.set('state', begun.json.state)
  const page = await browser.send(answer.href)
  t.equal(page.status, 400)
  t.match(page.json, { errors: [{ path: '/iss' }] }, "acme's answer is none for globex")
  t.equal(world.acme.count('/token') + world.globex.count('/token'), 0, 'no token request')
})

t.test('after ten minutes', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  world.ahead = 600_000
  refused(t, world, await browser.send(answer.href), 'too late')
})

t.test('just before ten minutes', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  world.ahead = 595_000
  const page = await browser.send(answer.href)
  t.not(page.json.code, 'input_invalid', 'the state is still good')
})

t.test('of a configuration that has gone', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  await world.reopen({ acme: { clientId: 'client_secret_basic-PS256' } })
  refused(t, world, await browser.send(answer.href), 'another client')
})

t.test('at another address than the redirect_uri', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  answer.pathname = '/auth/oidc/callback/globex'
  refused(t, world, await browser.send(answer.href), "another tenant's callback")
})

t.test('made up by who can write where it is kept', async (t) => {
  const kept = new Map<string, string>()
  const world = await startWorld(t, {
    ephemeral: {
      put: async (key, value) => void kept.set(key, value),
      take: async (key) => {
        const value = kept.get(key) ?? null
        kept.delete(key)
        return value
      },
    },
  })
  world.user('alice', {})
  const browser = world.browser()
  const answer = await world.answer(browser)
  const [[key = '', value = ''] = []] = kept
  t.notMatch(value, answer.searchParams.get('state') ?? '', 'what is kept does not tell the state')
  t.notMatch(value, 'verifier', 'nor the rest')
  const tampered = value.slice(0, -2) + (value.at(-2) === 'A' ? 'gg' : 'AA')
  for (const wrong of ['acme {}', value.replace('acme', 'globex'), tampered, '', 'acme ']) {
    kept.set(key, wrong)
    refused(t, world, await browser.send(answer.href), wrong.slice(0, 8))
  }
  kept.set(key, value)
  t.equal((await browser.send(answer.href)).status, 200)
})

t.test('as many sign-ins at once as there are slots', async (t) => {
  const { world, browser, answer } = await begunWorld(t)
  const answers = [answer]
  while (answers.length < 16) answers.push(await world.answer(browser))
  t.equal(browser.cookies(world.origin).size, 16)
  for (const each of answers) t.equal((await browser.send(each.href)).status, 200)
})

t.test('cookies that are none of ours, or half, take no slot', async (t) => {
  const name = signInCookie('x')
  const read = (...lines: string[]) => [...signInCookiesIn(lines)]
  t.same(read(`a=b; ${name}=1;${signInCookie('y')}=2`, ` ${signInCookie('z')} =3`).length, 3)
  t.same(read(`x${name}=1; ${name}; a=${name}=1; ${name}9=1; __Host-seatgate_signin_16=1`), [])
  t.same(read(`${name}=1; ${name}=2`, `${name}=3`), [name])
})

t.test('the cookies of a request are read once, however many of its slots are taken', async (t) => {
  const { world } = await begunWorld(t)
  const [tenant] = world.tenants()
  for (const taken of [0, 8, 15, 16]) {
    let reads = 0
    const text = Array.from({ length: taken }, (_, i) => `__Host-seatgate_signin_${i}=x`).join('; ')
    const cookies = new Proxy([text], {
      get(lines, key) {
        if (key === '0') reads++
        return Reflect.get(lines, key)
      },
    })
    const context = { ephemeral: world.ephemeral, now: world.now } as Context
    const { state } = await beginState(context, { tenant } as Provider, null, cookies)
    t.equal(reads, 1)
    const slot = signInCookie(state)
    t.equal(text.split('; ').includes(`${slot}=x`), taken === 16, `${taken} taken, ${slot} chosen`)
  }
})
