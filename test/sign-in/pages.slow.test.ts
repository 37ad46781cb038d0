/** Browsers whose sign-in fails get an HTML page; programs get the problem document. */

import type { Test } from 'tap'
import t from 'tap'
import { NAVIGATION, type Page } from './visitor.ts'
import type { Visitor } from './visitor.ts'
import { startSignIn } from './world.ts'

const world = await startSignIn(t)
world.user('alice')

const CALLBACK = `${world.origin}/auth/oidc/callback`

/** The callback URL with which the provider would return the browser. */
function answerTo(sent: Page, more: Readonly<Record<string, string>>): string {
  const state = new URL(sent.headers.location ?? sent.json.authorization_url).searchParams.get('state') ?? ''
  return `${CALLBACK}?${new URLSearchParams({ state, iss: world.acme.issuer, ...more })}`
}

async function begun(path = '/pages/a?x=1&y=2'): Promise<{ visitor: Visitor; sent: Page }> {
  const visitor = world.visitor()
  return { visitor, sent: await visitor.ask(path, { headers: NAVIGATION }) }
}

/** Checks an HTML page: its policy, its link, and that it repeats nothing of the request. */
function isPage(
  t: Test,
  page: Page,
  { status, words, link }: { status: number; words: RegExp; link: string },
) {
  t.equal(page.status, status)
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-request-id': String,
  })
  t.match(page.body, words)
  t.ok(page.body.includes(`<a href="${link}">Start again</a>`), page.body)
  t.ok(page.body.includes(String(page.headers['x-request-id'])))
}

const HTML = { headers: NAVIGATION }

t.test('cancelled at the provider', async (t) => {
  const { visitor, sent } = await begun()
  const url = answerTo(sent, { error: 'access_denied', error_description: '<b>no</b>' })
  const link = `${world.origin}/pages/a?x=1&amp;y=2`
  const words = { status: 401, words: /was cancelled/, link }
  isPage(t, await visitor.send(url, HTML), words)
  isPage(t, await visitor.send(url, HTML), words)
  t.match((await visitor.send(url)).json, { status: 401, code: 'credentials_missing' }, 'a program')
  // Back, then consent: the provider answers the same authorization request again.
  const page = await visitor.onward(sent)
  t.equal(page.url, `${world.origin}/pages/a?x=1&y=2`)
})

t.test('an unknown or used state, as by Back after the sign-in', async (t) => {
  const { visitor, sent } = await begun()
  const stopped = await visitor.onward(sent, (url) => url.startsWith(CALLBACK))
  const answer = stopped.headers.location ?? ''
  const cookies = new Map(visitor.cookies(world.origin))
  t.equal((await visitor.send(answer, HTML)).status, 303)
  isPage(t, await visitor.send(answer, HTML), { status: 400, words: /already completed/, link: '/' })
  t.match((await visitor.send(answer)).json, { code: 'input_invalid', errors: [{ path: '/state' }] })

  // The same callback twice at once: the second has the first one's cookie and gets a 400, or also has the session
  // and is redirected.
  const twice = world.visitor()
  for (const [name, value] of cookies) twice.cookies(world.origin).set(name, value)
  const link = `${world.origin}/pages/a?x=1&amp;y=2`
  isPage(t, await twice.send(answer, HTML), { status: 400, words: /already completed/, link })
  for (const [name, value] of cookies) visitor.cookies(world.origin).set(name, value)
  const on = await visitor.send(answer, HTML)
  t.match(on, { status: 303, headers: { location: `${world.origin}/pages/a?x=1&y=2` } })
  t.same([...visitor.cookies(world.origin).keys()].length, 1, 'the session')
})

t.test('a session of another tenant: not redirected again', async (t) => {
  const { visitor, sent } = await begun()
  const stopped = await visitor.onward(sent, (url) => url.startsWith(CALLBACK))
  const answer = stopped.headers.location ?? ''
  const cookies = new Map(visitor.cookies(world.origin))
  await visitor.send(answer, HTML)
  world.user('alice', {}, world.globex)
  const other = world.visitor()
  t.equal((await other.page('/globex/a')).status, 200)
  for (const [name, value] of cookies)
    if (name.includes('signin')) other.cookies(world.origin).set(name, value)
  t.equal((await other.send(answer, HTML)).status, 400)
})

t.test('no cookie, and an error text of a third party', async (t) => {
  const evil = '"><script>alert(1)</script>'
  const query = new URLSearchParams({
    state: evil,
    code: evil,
    error: evil,
    error_description: evil,
    return_to: 'https://evil.example/',
  })
  const page = await world.visitor().send(`${CALLBACK}?${query}`, HTML)
  isPage(t, page, { status: 400, words: /This browser has no pending sign-in/, link: '/' })
  t.notMatch(page.body, /script|evil/)
  const double = await world.visitor().send(`${CALLBACK}?state=a&state=b`, HTML)
  isPage(t, double, { status: 400, words: /more than once/, link: '/' })
})

t.test('the provider is down', async (t) => {
  await world.configure()
  await world.acme.down()
  const page = await world.visitor().ask('/pages/a', { headers: NAVIGATION })
  isPage(t, page, { status: 503, words: /temporarily unavailable/, link: '/pages/a' })
  t.equal(page.headers['retry-after'], '1')
  await world.acme.up()
  await world.configure()
})

t.test('another host name', async (t) => {
  const { host, hostname, port } = new URL(world.origin)
  const at = (name: string, more: Record<string, string> = {}) => ({
    headers: { ...NAVIGATION, host: name, ...more },
  })
  const visitor = world.visitor()
  for (const name of ['localhost', `localhost:${port}`, 'gw.internal', 'evil.example', '[::1]:80']) {
    const sent = await world.visitor().send(`${world.origin}/pages/a?b=c`, at(name))
    t.match(sent, { status: 303, headers: { location: `${world.origin}/pages/a?b=c` } }, name)
    t.notMatch(sent.headers['set-cookie']?.join(), /signin/)
  }
  for (const headers of [
    at(hostname),
    at(`${hostname}:1`),
    at(`${host}`),
    at('gw.internal', { 'x-forwarded-host': host }),
    at('gw.internal', { forwarded: `for=10.0.0.1;host="${host}"` }),
  ]) {
    const sent = await world.visitor().send(`${world.origin}/pages/a`, headers)
    t.match(sent.headers.location, `${world.acme.issuer}/auth`, JSON.stringify(headers))
  }
  // A proxy that always rewrites Host: one redirect, then signed in.
  const first = await visitor.send(`${world.origin}/pages/a`, at('gw.internal'))
  const second = await visitor.send(first.headers.location ?? '', at('gw.internal'))
  t.match(second.headers.location, `${world.acme.issuer}/auth`)
  const stopped = await visitor.onward(second, (url) => url.startsWith(CALLBACK))
  const answer = stopped.headers.location ?? ''
  t.equal((await visitor.send(answer, at('gw.internal'))).status, 303)

  await t.test('the callback', async (t) => {
    const lost = await world.visitor().send(`${CALLBACK}?state=x&code=y`, at('gw.internal'))
    t.match(lost, { status: 303, headers: { location: `${CALLBACK}?state=x&code=y` } })
    t.equal((await world.visitor().send(`${CALLBACK}?state=x&code=y`, at(host))).status, 400)
    const program = await world.visitor().send(`${CALLBACK}?state=x`, { headers: { host: 'gw.internal' } })
    t.equal(program.status, 400)
  })

  await t.test('a form', async (t) => {
    const origin = `http://localhost:${port}`
    const fields = { tenant: 'acme', return_to: '/pages/a' }
    const post = (headers: Record<string, string>) =>
      world.visitor().post(`${world.origin}/auth/oidc/login`, fields, headers)
    const sent = await post({ host: `localhost:${port}`, origin })
    t.match(sent, { status: 303, headers: { location: `${world.origin}/pages/a` } })
    t.equal((await post({ host, origin })).status, 403)
    const rewritten = await post({ host: 'gw.internal', origin: world.origin })
    t.match(rewritten.headers.location, `${world.acme.issuer}/auth`)
  })
})

t.test('a cross-site form post of a browser', async (t) => {
  const headers = { ...NAVIGATION, origin: 'https://evil.example' }
  const page = await world.visitor().post(`${world.origin}/auth/oidc/login`, { tenant: 'acme' }, headers)
  isPage(t, page, { status: 403, words: /page of this origin/, link: '/' })
})
