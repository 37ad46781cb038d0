/** Questions of other proxies take tokens as requests of clients do. */

import t from 'tap'
import { metricsOf } from '../support/operations.ts'
import { Envoy, deniedResponse } from './envoy-grpc/envoy.ts'
import { forwardFields, nginxFields, startAsking } from './support.ts'

const asking = await startAsking(t, {
  top: [
    'rate_limits: { reads: { limit: 2/h, per: caller }, docs: { limit: 1/h, per: address }, all: { limit: 3/h, per: route }, probes: { limit: 2/h, per: caller } }',
  ],
  routes: [
    'GET /v1/trainings/{id}: { permission: trainings:read, rate_limit: [reads] }',
    'GET /v1/bills/{id}: { permission: trainings:read, rate_limit: [all] }',
    'DELETE /v1/bills/{id}: { permission: trainings:delete, rate_limit: [probes] }',
    'GET /docs/*: { permission: public, rate_limit: [docs] }',
  ],
})
const credential = { 'x-api-key': asking.key, space: 'main' }

t.test('one budget for questions and for requests', async (t) => {
  const { ask, world } = asking
  const first = await ask('/auth/nginx', { ...nginxFields('GET', '/v1/trainings/7'), ...credential })
  t.equal(first.status, 200)
  t.equal(first.headers['ratelimit-policy'], '"reads";q=2;w=3600')
  t.match(first.headers['ratelimit'], /^"reads";r=1;t=\d+$/)
  t.equal((await world.client.send('GET', '/v1/trainings/8', credential)).status, 200)
  for (const [path, fields] of [
    ['/auth/nginx', nginxFields],
    ['/auth/nginx/refusal', nginxFields],
    ['/auth/forward', forwardFields],
  ] as const) {
    const refused = await ask(path, { ...fields('GET', '/v1/trainings/7'), ...credential })
    t.equal(refused.status, 429, path)
    t.equal(refused.json.code, 'rate_limited')
    t.match(refused.headers, { 'retry-after': /^\d+$/, ratelimit: /^"reads";r=0;t=\d+$/ })
  }
  const envoy = new Envoy(t, asking.port)
  const denied = deniedResponse(await envoy.check({ headers: Object.entries(credential) }))
  t.equal(denied.status, 429)
  t.match(denied.headers, { 'retry-after': /^\d+$/, ratelimit: /^"reads";r=0/ })
})

t.test('the address is the one that the proxy names', async (t) => {
  const from = (client: string) =>
    asking.ask('/auth/nginx', { ...nginxFields('GET', '/docs/a'), 'x-forwarded-for': client })
  t.equal((await from('203.0.113.1')).status, 200)
  t.equal((await from('203.0.113.1')).status, 429)
  t.equal((await from('198.51.100.1, 203.0.113.1')).status, 429, 'what the client says counts for nothing')
  t.equal((await from('203.0.113.2')).status, 200)
  t.equal((await from('2001:db8::1')).status, 200)
  t.equal((await from('2001:db8::2')).status, 429, 'one network')
})

t.test('an IPv4-mapped address is that IPv4 address, not the network of all of them', async (t) => {
  const forwarded = async (client: string) =>
    (await asking.ask('/auth/nginx', { ...nginxFields('GET', '/docs/a'), 'x-forwarded-for': client })).status
  t.equal(await forwarded('198.51.100.1'), 200)
  for (const mapped of ['::ffff:198.51.100.1', '::ffff:c633:6401', '[0:0::0:FFFF:C633:6401]:4711'])
    t.equal(await forwarded(mapped), 429, mapped)
  t.equal(await forwarded('::ffff:c633:6402'), 200, 'another address')
  const envoy = new Envoy(t, asking.port)
  const check = async (address: string) => (await envoy.check({ path: '/docs/a', address })).status?.code
  t.equal(await check('198.51.100.3'), 0)
  for (const mapped of ['::ffff:198.51.100.3', '::ffff:c633:6403']) t.not(await check(mapped), 0, mapped)
  t.equal(await check('::ffff:198.51.100.4'), 0, 'another address')
  t.equal(await check('::ffff:c633:6405'), 0)
})

t.test('a refusal that nginx asks for again is counted once', async (t) => {
  const ask = (path: string, space: string) =>
    asking.ask(path, { ...nginxFields('GET', '/v1/bills/1'), ...credential, space })
  t.equal((await ask('/auth/nginx', 'other')).status, 403)
  t.equal((await ask('/auth/nginx/refusal', 'other')).status, 403)
  t.equal((await ask('/auth/nginx', 'main')).status, 200)
  t.equal((await ask('/auth/nginx', 'main')).status, 200)
  t.equal((await ask('/auth/nginx', 'main')).status, 429)
})

t.test('nginx learns of the limit of a caller who is denied', async (t) => {
  const fields = { ...nginxFields('DELETE', '/v1/bills/1'), ...credential }
  const first = await asking.ask('/auth/nginx', fields)
  t.equal(first.status, 403)
  const again = await asking.ask('/auth/nginx/refusal', fields)
  t.equal(again.json.code, 'permission_denied')
  t.match(again.headers, { 'ratelimit-policy': '"probes";q=2;w=3600', ratelimit: /^"probes";r=1;t=\d+$/ })
  t.equal((await asking.ask('/auth/nginx', fields)).status, 403)
  t.equal((await asking.ask('/auth/nginx', fields)).status, 429)
  const refused = await asking.ask('/auth/nginx/refusal', fields)
  t.equal(refused.json.code, 'rate_limited')
  t.match(refused.headers, { 'retry-after': /^\d+$/, ratelimit: /^"probes";r=0;t=\d+$/ })
  const metrics = await metricsOf(asking.world)
  t.match(metrics, /seatgate_rate_limited_total\{limit="probes"\} 1\n/, 'it is counted once')
})
