/** Open redirects: `return_to` leads to a path of the gateway's own origin, or is refused. */

import t from 'tap'
import { pageOf, returnAddress, safeReturnTo } from '../../src/oidc/sign-in/return-to.ts'
import { freshWorld } from './world.ts'

const ORIGIN = 'https://gw.example'

const BAD = [
  '',
  'pages',
  'https://evil.example/',
  'HTTPS://gw.example/',
  'https:evil.example',
  'https:/evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  '//evil.example',
  '///evil.example',
  '////evil.example/%2e%2e',
  '/\\evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\t//evil.example',
  ' //evil.example',
  '/ /evil.example',
  '\u0000//evil.example',
  '/%09/evil.example',
  '/%0d%0aLocation:%20https://evil.example',
  '/pages\r\nSet-Cookie: a=b',
  '/%2fevil.example',
  '/%2Fevil.example',
  '/%5cevil.example',
  '/%5Cevil.example',
  '/%252fevil.example',
  '/%25255cevil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/pages/..//evil.example',
  '/%2e//evil.example',
  '/%2e%2e/%2e%2e/evil',
  '/pages/./x',
  '/pages/.',
  '/pages/..',
  '/pages//evil.example',
  '/pages/%zz',
  '/pages/%',
  '/\u2044/evil.example',
  '/\uff0f/evil.example',
  '/ünïcode',
  '/pages/<script>',
  '/pages/"x',
  '@evil.example',
  '.evil.example',
  ':80@evil.example',
  '?next=//evil.example',
  '#//evil.example',
  `/${'a'.repeat(2048)}`,
  '/auth/oidc/callback?code=x',
  '/auth/oidc/login',
  '/auth/oidc',
  '/AUTH/OIDC/logout',
]

const GOOD = [
  '/',
  '/pages/report?year=2026&q=a%20b',
  '/pages/a#part',
  '/@evil.example',
  '/pages?next=https://evil.example/',
  '/pages?next=//evil.example',
  '/..pages',
  '/auth/oidcx',
]

t.test('refused values, and values that pass unchanged', async (t) => {
  for (const text of BAD) t.equal(safeReturnTo(text, ''), null, JSON.stringify(text))
  for (const text of GOOD) t.equal(safeReturnTo(text, ''), text, JSON.stringify(text))
})

t.test("the address has the gateway's origin, even for unsafe input", async (t) => {
  for (const text of [...GOOD, ...BAD]) {
    const url = new URL(returnAddress(text, ORIGIN))
    t.equal(url.origin, ORIGIN, JSON.stringify(text))
  }
  t.equal(returnAddress('//evil.example/', ORIGIN), `${ORIGIN}/`)
})

t.test('return_to at the login endpoint', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  for (const return_to of BAD) {
    const answer = await browser.postJson(`${world.origin}/auth/oidc/login`, { tenant: 'acme', return_to })
    t.match(answer.json, { status: 400, errors: [{ path: '/return_to' }] }, JSON.stringify(return_to))
    const form = await browser.post(`${world.origin}/auth/oidc/login`, { tenant: 'acme', return_to })
    t.equal(form.status, 400, JSON.stringify(return_to))
  }
  for (const return_to of GOOD) {
    const answer = await browser.answer('acme', { return_to })
    const back = await browser.send(answer.href)
    t.equal(back.status, 303)
    t.equal(new URL(back.headers.location ?? '').origin, world.origin, return_to)
    t.equal(back.headers.location, `${world.origin}${return_to}`)
  }
})

t.test('the callback takes no destination from the request', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const answer = await browser.answer('acme', { return_to: '/pages/a' })
  answer.searchParams.set('return_to', 'https://evil.example/')
  answer.searchParams.set('redirect_uri', 'https://evil.example/')
  const back = await browser.send(answer.href, {
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  })
  t.equal(back.headers.location, `${world.origin}/pages/a`, 'Host has no influence')
})

t.test('a navigation to a path that is no safe return address leads to the start page', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const page = await browser.walk(`${world.origin}/pages/a%252Fb`, (url) => url === `${world.origin}/`)
  t.equal(page.headers.location, `${world.origin}/`)
})

t.test('the return address is the requested page, in characters that URLs allow', async (t) => {
  const cases: Record<string, string | null> = {
    '/pages/a?q=[1]|2': '/pages/a?q=[1]%7C2',
    '/pages/a?q=\xc3\xa9^{}`': '/pages/a?q=%C3%A9%5E%7B%7D%60',
    '/pages/a%2Fb?x=1': '/pages/a%2Fb?x=1',
    '/pages/a%252Fb': null,
    '/pages/%2F%2Fevil.example': null,
    '/pages/a%2F..%2Fb': null,
    '/%2Fevil.example': null,
    '/pages/a%5Cb': null,
    '/pages/\xc3\xa9': null,
    '/auth/oidc/login': null,
    '//evil.example/?q=|': null,
    'http://evil.example/': null,
  }
  for (const [target, page] of Object.entries(cases)) t.equal(pageOf(target, ''), page, target)
  for (const text of GOOD) if (!/[#]/.test(text)) t.equal(pageOf(text, ''), text, text)
})
