/** A program signs in a user on a whole gateway, and uses the token as any other. */

import { decodeJwt } from 'jose'
import t from 'tap'
import { idTokenOf } from './id-token.ts'
import { startSignIn } from './world.ts'

const world = await startSignIn(t)
await world.gateway.seat('Viewer', ['main', 'other'], ['trainings:list'])
await world.gateway.seat('ns:Editor', ['main'], ['trainings:create'])
await world.gateway.seat('Admin', ['main'], ['*'], 'globex')

t.test('login, callback, and the token on routes', async (t) => {
  world.user('alice', { memberOf: ['Viewer', 'ns:Editor', 'Admin'] })
  const visitor = world.visitor()
  const begun = await visitor.begin()
  t.equal(begun.status, 200)
  t.same(Object.keys(begun.json), ['authorization_url', 'state', 'expires_in'])
  t.match(begun.json, { state: /^[\w-]{43}$/, expires_in: 600 })
  t.equal(begun.headers['cache-control'], 'no-store')

  const back = await visitor.walk(begun.json.authorization_url)
  t.equal(back.status, 200)
  t.equal(back.headers['cache-control'], 'no-store')
  t.same(Object.keys(back.json), ['access_token', 'token_type', 'expires_in', 'refresh_token', 'user'])
  t.match(back.json, { token_type: 'Bearer', expires_in: 3600, refresh_token: /^sgr_acme\./ })
  t.same(back.json.user, {
    sub: 'alice',
    email: 'alice@acme.example',
    name: 'A. User',
    tenant_id: 'acme',
    seats: ['Viewer', 'ns:Editor'],
  })
  const claims = decodeJwt(back.json.access_token)
  t.match(claims, {
    sub: 'alice',
    email: 'alice@acme.example',
    tenant_id: 'acme',
    is_sso: true,
    user_metadata: { email: 'alice@acme.example', name: 'A. User', sub: 'alice' },
    hash_perm: ['main:Viewer', 'other:Viewer', 'main:ns:Editor'],
    nbf: claims.iat,
  })
  t.equal((claims.exp ?? 0) - (claims.iat ?? 0), 3600)

  const token = back.json.access_token
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'main' })).status, 200)
  t.match(world.gateway.upstream.seen.at(-1)?.headers, {
    'x-seatgate-tenant': 'acme',
    'x-seatgate-user': 'alice',
    'x-seatgate-email': 'alice@acme.example',
    'x-seatgate-seats': 'Viewer',
    'x-seatgate-auth': 'bearer',
  })
  const created = await visitor.ask('/v1/trainings', { token, space: 'main', method: 'POST' })
  t.equal(created.status, 200)
  const denied = await visitor.ask('/v1/trainings', { token, space: 'other', method: 'POST' })
  t.match(denied.json, { status: 403, code: 'permission_denied' })
  const none = await visitor.ask('/v1/trainings', { token, space: 'third' })
  t.match(none.json, { status: 403, code: 'no_seat_in_space' })
  t.match(world.events('seats_unknown'), [{ tenant: 'acme', names: ['Admin'] }], 'ignored, and logged')
})

t.test('the other tenant: its own provider and Seats, from userinfo', async (t) => {
  world.user('bob', { memberOf: 'Admin' }, world.globex)
  const before = world.acme.count('/token')
  const visitor = world.visitor('bob')
  const answer = await visitor.signIn('globex')
  t.match(answer.json.user, { sub: 'bob', tenant_id: 'globex', seats: ['Admin'] })
  const token = answer.json.access_token
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'main', method: 'POST' })).status, 200)
  t.equal(world.acme.count('/token'), before, "acme's provider received no request")
})

t.test('refresh: the Seats that the provider reports then; a second use ends the session', async (t) => {
  world.user('carol', { memberOf: ['Viewer'] })
  const visitor = world.visitor('carol')
  const first = (await visitor.signIn()).json
  world.user('carol', { memberOf: ['ns:Editor'] })
  const next = await visitor.refresh(first.refresh_token)
  t.equal(next.status, 200)
  t.same(Object.keys(next.json), ['access_token', 'token_type', 'expires_in', 'refresh_token', 'user'])
  t.same(next.json.user.seats, ['ns:Editor'])
  const token = next.json.access_token
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'main' })).status, 403)
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'main', method: 'POST' })).status, 200)

  t.match((await visitor.refresh(first.refresh_token)).json, { status: 401, code: 'token_invalid' })
  t.match((await visitor.refresh(next.json.refresh_token)).json, { status: 401, code: 'token_invalid' })
  t.match(world.events('refresh_replayed'), [{ tenant: 'acme' }])
})

t.test('refresh: a user that the provider no longer has', async (t) => {
  world.user('dora')
  const visitor = world.visitor('dora')
  const { refresh_token } = (await visitor.signIn()).json
  world.acme.accounts.delete('dora')
  t.match((await visitor.refresh(refresh_token)).json, { status: 401, code: 'token_expired' })
  world.user('dora')
  t.equal((await visitor.refresh(refresh_token)).status, 401, 'the session has ended')
})

t.test('validate', async (t) => {
  world.user('erin', { memberOf: ['Viewer', 'Nobody'] })
  const visitor = world.visitor('erin')
  const idToken = await idTokenOf(visitor, world.acme)
  const answer = await visitor.validate(idToken)
  t.equal(answer.status, 200)
  t.same(Object.keys(answer.json), ['valid', 'claims', 'seats', 'hash_perm'])
  t.match(answer.json, {
    valid: true,
    claims: { sub: 'erin', iss: world.acme.issuer, aud: world.acme.config().clientId },
    seats: ['Viewer'],
    hash_perm: ['main:Viewer', 'other:Viewer'],
  })
  t.match((await visitor.validate(idToken, 'globex')).json, { status: 401, code: 'token_invalid' })
  const [header, claims] = idToken.split('.')
  t.match((await visitor.validate(`${header}.${claims}.AAAA`)).json, { status: 401, code: 'token_invalid' })
  t.match((await visitor.validate('no token')).json, { status: 401, code: 'token_invalid' })
})

t.test('logout by handle: the handle is invalid once the response arrives', async (t) => {
  world.user('frank')
  const visitor = world.visitor('frank')
  const { refresh_token } = (await visitor.signIn()).json
  const out = await visitor.logout({ refresh_token })
  t.equal(out.status, 200)
  t.match(out.json, { logged_out: true, end_session_url: world.acme.issuer })
  t.equal((await visitor.refresh(refresh_token)).status, 401)
})

t.test('requests that the endpoints refuse unread', async (t) => {
  const visitor = world.visitor()
  const type = { 'content-type': 'application/json' }
  const post = (body: string, headers: Record<string, string> = type) =>
    visitor.ask('/auth/oidc/login', { method: 'POST', headers, body })
  t.equal((await post(JSON.stringify({ tenant: 'a'.repeat(128 * 1024) }))).json.code, 'body_too_large')
  t.equal((await post('{}', { 'content-type': 'text/plain' })).json.code, 'media_type_unsupported')
  t.equal((await post('x', { ...type, 'content-encoding': 'gzip' })).json.code, 'media_type_unsupported')
  t.equal((await post('{"tenant":"acme","tenant":"acme"}')).json.code, 'input_invalid')
  const get = await visitor.ask('/auth/oidc/login')
  t.equal(get.status, 405)
  t.equal(get.headers.allow, 'POST')
  t.equal((await visitor.ask('/auth/oidc/callback', { method: 'POST' })).status, 405)
  t.equal((await visitor.ask('/auth/oidc/other')).json.code, 'route_not_found')
  t.equal((await visitor.ask('/auth/oidc/callback')).json.code, 'input_invalid', 'neither state nor code')
})
