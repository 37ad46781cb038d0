/** Questions about pages that a route sends to sign-in. */

import t from 'tap'
import { NAVIGATION } from '../sign-in/visitor.ts'
import { startSignIn } from '../sign-in/world.ts'
import { Client } from '../support/client.ts'
import { decisionPort, forwardFields, nginxFields } from './support.ts'

const world = await startSignIn(t, { top: ['decision: { listen: 127.0.0.1:0 }'] })
world.user('alice')
const client = new Client(decisionPort(world.gateway))
t.teardown(() => client.close())
const { host } = new URL(world.origin)

t.test('a browser gets 401 with the address of the provider', async (t) => {
  for (const [path, fields] of [
    ['/auth/nginx', nginxFields('GET', '/pages/a', host)],
    ['/auth/forward', forwardFields('GET', '/pages/a', host)],
  ] as const) {
    const answer = await client.send('GET', path, { ...fields, ...NAVIGATION })
    t.equal(answer.status, 401)
    t.equal(answer.json.code, 'credentials_missing')
    t.match(answer.headers['www-authenticate'], /^Bearer/)
    t.equal(answer.headers.location?.split('?')[0], `${world.acme.issuer}/auth`)
    t.ok((answer.headers['set-cookie'] ?? []).length > 0)
    for (const cookie of answer.headers['set-cookie'] ?? []) {
      const value = cookie.split(/[=;]/)[1] ?? ''
      if (value.length > 20) world.secrets.add(value)
    }
  }
})

t.test(
  'nginx passes one cookie on: it gets the new one alone, and others those that remove old ones',
  async (t) => {
    const old = Array.from(
      { length: 4 },
      (_, at) => `__Host-seatgate_signin_${at}=acme.1.${'x'.repeat(1_500)}`,
    )
    const more = { ...NAVIGATION, cookie: old.join('; ') }
    const nginx = await client.send('GET', '/auth/nginx', {
      ...nginxFields('GET', '/pages/a', host),
      ...more,
    })
    const forward = await client.send('GET', '/auth/forward', {
      ...forwardFields('GET', '/pages/a', host),
      ...more,
    })
    for (const { headers, count } of [
      { ...nginx, count: 1 },
      { ...forward, count: 3 },
    ]) {
      const [own = '', ...removed] = headers['set-cookie'] ?? []
      t.match(own, /^__Host-seatgate_signin_[\w-]{12}=acme\.[^;]+; Path=\/; Max-Age=600;/)
      t.equal(removed.length, count - 1)
      t.ok(removed.every((cookie) => /^__Host-seatgate_signin_\d=; Path=\/; Max-Age=0;/.test(cookie)))
    }
    t.equal(nginx.headers.location?.split('?')[0], forward.headers.location?.split('?')[0])
  },
)

t.test('a program gets the 401 alone', async (t) => {
  const answer = await client.send('GET', '/auth/nginx', nginxFields('GET', '/pages/a', host))
  t.equal(answer.status, 401)
  t.notOk('location' in answer.headers)
})

t.test('another host leads to the canonical one, whatever X-Forwarded-Host says', async (t) => {
  const asked = { ...nginxFields('GET', '/pages/a', 'other.example'), ...NAVIGATION }
  for (const more of [{}, { 'x-forwarded-host': 'evil.example' }, { 'x-forwarded-host': host }]) {
    const answer = await client.send('GET', '/auth/nginx', { ...asked, ...more })
    t.equal(answer.status, 401)
    t.equal(answer.headers.location, `${world.origin}/pages/a`)
  }
  const forward = { ...forwardFields('GET', '/pages/a', 'evil.example'), ...NAVIGATION }
  const answer = await client.send('GET', '/auth/forward', forward)
  t.equal(answer.headers.location, `${world.origin}/pages/a`)
})

t.test('a session is a credential, also for a WebSocket of the own origin alone', async (t) => {
  const visitor = world.visitor()
  t.equal((await visitor.page('/pages/a')).status, 200)
  const cookie = [...visitor.cookies(world.origin)].map(([name, value]) => `${name}=${value}`).join('; ')
  const asked = { ...nginxFields('GET', '/pages/a', host), cookie }
  const allowed = await client.send('GET', '/auth/nginx', asked)
  t.equal(allowed.status, 200)
  t.match(allowed.headers, { 'x-seatgate-user': /./, 'x-seatgate-auth': 'session' })
  const handshake = {
    ...asked,
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  }
  t.equal((await client.send('GET', '/auth/nginx', { ...handshake, origin: world.origin })).status, 200)
  t.equal(
    (await client.send('GET', '/auth/nginx', { ...handshake, origin: 'https://evil.example' })).status,
    401,
  )
  const write = { ...nginxFields('POST', '/v1/me', host), cookie }
  t.equal((await client.send('GET', '/auth/nginx', { ...write, origin: 'https://evil.example' })).status, 401)
})
