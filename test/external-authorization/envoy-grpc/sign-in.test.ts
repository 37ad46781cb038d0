/** Envoy asks about pages that a route sends to sign-in, and about sessions. */

import t from 'tap'
import { NAVIGATION } from '../../sign-in/visitor.ts'
import { startSignIn } from '../../sign-in/world.ts'
import { decisionPort } from '../support.ts'
import { type ClientsRequest, deniedResponse, Envoy, forwardedHeaders } from './envoy.ts'

const world = await startSignIn(t, { top: ['decision: { listen: 127.0.0.1:0 }'] })
world.user('alice')
const envoy = new Envoy(t, decisionPort(world.gateway))
const { host } = new URL(world.origin)
const browser = Object.entries(NAVIGATION).map(([name, value]) => [name.toLowerCase(), value] as const)

t.test('a browser gets 401 with the address of the provider', async (t) => {
  const request: ClientsRequest = { path: '/pages/a', host, headers: browser }
  const answer = await envoy.check(request)
  const { status, headers, body } = deniedResponse(answer)
  t.equal(status, 401)
  t.equal(JSON.parse(body).code, 'credentials_missing')
  t.equal(headers.location?.split('?')[0], `${world.acme.issuer}/auth`)
  const cookies = answer.denied_response?.headers.filter(({ header }) => header.key === 'set-cookie') ?? []
  t.ok(cookies.length > 0)
  for (const { header } of cookies) {
    const value = header.value.split(/[=;]/)[1] ?? ''
    if (value.length > 20) world.secrets.add(value)
  }
  const program = deniedResponse(await envoy.check({ path: '/pages/a', host }))
  t.notOk('location' in program.headers)
})

t.test('another host leads to the canonical one, whatever X-Forwarded-Host says', async (t) => {
  for (const more of [[], [['x-forwarded-host', 'evil.example']], [['x-forwarded-host', host]]] as const) {
    const request = { path: '/pages/a', host: 'other.example', headers: [...browser, ...more] }
    const { status, headers } = deniedResponse(await envoy.check(request))
    t.equal(status, 401)
    t.equal(headers.location, `${world.origin}/pages/a`)
  }
})

t.test('a session is a credential that the upstream does not get', async (t) => {
  const visitor = world.visitor()
  t.equal((await visitor.page('/pages/a')).status, 200)
  const session = [...visitor.cookies(world.origin)].map(([name, value]) => `${name}=${value}`).join('; ')
  for (const isRaw of [true, false]) {
    const request: ClientsRequest = {
      path: '/pages/a',
      host,
      headers: [['cookie', `theme=dark; ${session}`]],
    }
    const forwarded = forwardedHeaders(request, await envoy.check(request, isRaw))
    t.same(forwarded?.get('x-seatgate-auth'), ['session'])
    t.same(forwarded?.get('cookie'), ['theme=dark'])
  }
  const two: ClientsRequest = {
    path: '/pages/a',
    host,
    headers: [
      ['cookie', 'a=b'],
      ['cookie', session],
    ],
  }
  t.equal(
    deniedResponse(await envoy.check(two, false)).status,
    400,
    'merged by Envoy: one may hide the other',
  )
})

t.test('a session opens WebSockets for its own origin alone', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const cookie = [...visitor.cookies(world.origin)].map(([name, value]) => `${name}=${value}`).join('; ')
  const ask = (origin: string) =>
    envoy.check({
      path: '/pages/a',
      host,
      headers: [
        ['cookie', cookie],
        ['origin', origin],
        ['upgrade', 'websocket'],
        ['connection', 'Upgrade'],
        ['sec-websocket-version', '13'],
        ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ],
    })
  t.equal((await ask(world.origin)).status?.code, 0)
  t.equal(deniedResponse(await ask('https://evil.example')).status, 401)
})
