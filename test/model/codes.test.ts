/** Every status and code of the contract at least once, each through the door as its own problem document. */

import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { type ErrorCode, errors } from '../../src/model/errors.ts'
import { done, writer } from '../seats-admin/store/conformance.ts'
import { open } from '../seats-admin/store/sqlite/support.ts'
import type { Answer } from '../support/client.ts'
import { startWorld } from '../support/world.ts'
import { reservePort } from '../support/servers/ports.ts'
import { roundTrip } from '../support/raw-client.ts'

t.test('each code', async (t) => {
  const garbage = createServer((socket) => socket.once('data', () => socket.end('this is no HTTP\r\n\r\n')))
  const silent = createServer(() => {})
  await Promise.all(
    [garbage, silent].map((each) => new Promise<void>((done) => each.listen(0, '127.0.0.1', done))),
  )
  const port = (server: typeof garbage) => (server.address() as { port: number }).port
  t.teardown(() => {
    garbage.close()
    silent.close()
  })
  const closed = await reservePort(t)

  const world = await startWorld(t, {
    routes: [
      'GET /v1/trainings: trainings:list',
      'POST /v1/trainings: { permission: public, max_body: 16B }',
      'GET /gone/*: public',
      'GET /fixed: { permission: trainings:list, space: { fixed: main } }',
      'GET /globex: { permission: authenticated, tenant: globex }',
      'GET /limited: { permission: public, rate_limit: [once] }',
    ],
    top: ['rate_limits: { once: { limit: 1/h, per: route } }'],
  })
  for (const [name, at] of Object.entries({ gone: closed, garbage: port(garbage), silent: port(silent) })) {
    writeFileSync(
      join(world.folder, 'routes', `${name}.yaml`),
      `upstream: ${name}\nroutes: { GET /${name}: public }\n`,
    )
    const text = readFileSync(world.config.file, 'utf8')
    const timeout = name === 'silent' ? '200ms' : '1m'
    const entry = `  ${name}: { targets: ["http://127.0.0.1:${at}"], response_timeout: ${timeout} }\n`
    writeFileSync(world.config.file, text.replace('routes: [', `${entry}routes: [`))
  }
  await world.reload()

  const seen = new Set<string>()
  const get = (path: string, headers: Record<string, string> = {}) => world.client.send('GET', path, headers)
  const check = (code: ErrorCode, answer: Answer) => {
    seen.add(code)
    const { status } = errors[code]
    t.equal(answer.status, status, code)
    t.equal(answer.headers['content-type'], 'application/problem+json', code)
    t.match(answer.json, { type: `urn:seatgate:${code}`, title: String, status, code, detail: String })
    t.equal(answer.json.request_id, answer.headers['x-request-id'])
    t.equal('www-authenticate' in answer.headers, status === 401, `${code}: a challenge with a 401 only`)
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}`, space: 's1' })
  const key = { 'x-api-key': world.keys.acme ?? '', space: 'admin' }
  const json = { ...key, 'content-type': 'application/json' }
  const now = Date.now()
  const mint = (offset: number) =>
    mintToken(world.tenant('acme'), { sub: 'alice', hashPerm: ['s1:Viewer'] }, now + offset)

  check('path_ambiguous', await get('/a%2Fb'))
  check('space_required', await get('/v1/trainings', { 'x-api-key': world.keys.acme ?? '' }))
  check('tenant_mismatch', await get('/globex', key))
  check('space_conflict', await get('/fixed', { ...key, space: 'other' }))
  check('request_malformed', await get('/v1/trainings', { ...key, space: 'a:b' }))
  check('credentials_ambiguous', await get('/v1/trainings', { ...key, 'x-api-key': 'a, b' }))
  check('credentials_missing', await get('/v1/trainings', { space: 's1' }))
  check('api_key_invalid', await get('/v1/trainings', { ...key, 'x-api-key': '' }))
  check('token_invalid', await get('/v1/trainings', bearer('nonsense')))
  check('token_expired', await get('/v1/trainings', bearer(await mint(-2 * 3600_000))))
  check('token_not_yet_valid', await get('/v1/trainings', bearer(await mint(3600_000))))
  check('no_seat_in_space', await get('/v1/trainings', { ...key, space: 's1' }))
  check('permission_denied', await get('/v1/trainings', bearer(await mint(0))))
  check('route_not_found', await get('/nowhere', key))
  check('method_not_allowed', await world.client.send('PUT', '/v1/trainings', key))
  check('seat_not_found', await get('/v1/seats/01ARZ3NDEKTSV4RRFFQ69G5FAV', key))
  check('session_not_found', await world.client.send('DELETE', '/v1/sessions/unknown', key))
  check('api_key_not_found', await get('/v1/api-keys/01ARZ3NDEKTSV4RRFFQ69G5FAV', key))
  check('uri_too_long', await get(`/${'a'.repeat(9000)}`))
  check('body_too_large', await world.client.send('POST', '/v1/trainings', {}, 'a'.repeat(17)))
  check(
    'media_type_unsupported',
    await world.client.send('POST', '/v1/seats', { ...key, 'content-type': 'text/plain' }, '{}'),
  )
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '8' }
  check('upgrade_required', await get('/gone', upgrade))
  check('upstream_unreachable', await get('/gone'))
  check('upstream_protocol_error', await get('/garbage'))
  check('upstream_timeout', await get('/silent'))

  const invalid = await world.client.send('POST', '/v1/seats', json, '{"name":1}')
  check('input_invalid', invalid)
  t.match(invalid.json.errors, [{ path: String, message: String }])
  await world.seat('Viewer', ['s1'], ['a:b'])
  check(
    'seat_name_taken',
    await world.admin('POST', '/v1/seats', { name: 'Viewer', spaces: [], permissions: [] }),
  )
  await world.seat('Maker', ['s1'], ['seats:create'])
  const maker = { ...bearer(await world.token(['s1:Maker'])), 'content-type': 'application/json' }
  const more = JSON.stringify({ name: 'More', spaces: ['s1'], permissions: ['*'] })
  check('grant_exceeds_own', await world.client.send('POST', '/v1/seats', maker, more))

  const { data } = (await world.admin('GET', '/v1/seats')).json
  const { id } = data.find((seat: { name: string }) => seat.name === 'admin')
  check('last_administrator', await world.admin('DELETE', `/v1/seats/${id}`))
  const stale = { ...key, 'if-match': '"1"' }
  check('precondition_failed', await world.client.send('DELETE', `/v1/seats/${id}`, stale))

  const store = await open(t, { path: world.storeFile })
  const expiring = { name: 'expired', seats: ['admin'], expiresAt: now - 1 }
  const expired = done(await store.createApiKey(writer(), expiring)).value
  const long = (await world.admin('POST', '/v1/api-keys', { name: 'long', seats: ['admin'] })).json
  for (const { id } of [expired, long]) await world.admin('DELETE', `/v1/api-keys/${id}`)
  check('api_key_revoked', await get('/v1/trainings', { ...key, 'x-api-key': long.key }))
  check('api_key_expired', await get('/v1/trainings', { ...key, 'x-api-key': expired.key }))

  check('user_not_found', await world.admin('GET', '/v1/users/none'))
  check('grant_not_found', await world.admin('DELETE', '/v1/grants/none'))
  check('scim_not_configured', await world.admin('GET', '/v1/scim/comparison'))
  check('block_not_found', await world.admin('DELETE', '/v1/blocks/none'))
  await world.admin('POST', '/v1/blocks', { user: 'eve' })
  check('caller_blocked', await get('/v1/trainings', bearer(await world.token([], { sub: 'eve' }))))

  const voided = await world.token([], { sub: 'ivy' })
  await world.admin('POST', '/v1/revocations', { subject: { user: 'ivy' } })
  check('token_revoked', await get('/v1/trainings', bearer(voided)))
  check('revocation_not_found', await world.admin('GET', '/v1/revocations/none'))

  await get('/limited')
  check('rate_limited', await get('/limited'))

  const large = await roundTrip(world.port, `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`)
  t.match(large, /^HTTP\/1\.1 431 [\s\S]*"code":"headers_too_large"/)
  seen.add('headers_too_large')

  // Shown where their causes are made: test/pipeline/preflight.test.ts, test/attacks/login-csrf.test.ts, test/http/server/slow-headers.slow.test.ts,
  // test/attacks/store-gone.slow.test.ts, test/external-authorization/listener.test.ts,
  // test/oidc/global-token-revocation.test.ts and test/tables/one-gateway.slow.test.ts.
  seen.add('tables_not_found')
  seen.add('precondition_required')
  seen.add('tables_refused')
  seen.add('tables_in_files')
  seen.add('subject_foreign')
  seen.add('subject_unsupported')
  seen.add('peer_refused')
  seen.add('preflight_refused')
  seen.add('origin_refused')
  seen.add('request_timeout')
  seen.add('unavailable')
  t.same(
    Object.keys(errors).filter((code) => !seen.has(code)),
    [],
    'none is left out',
  )
})
