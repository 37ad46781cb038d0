/** Entries for the callers of one tenant: `tenant` of a table and of an entry. */

import t from 'tap'
import { metric } from '../support/operations.ts'
import { holdLease } from '../support/held-lease.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, {
  routes: [
    'GET /any: docs:read',
    'GET /mine: { permission: docs:read, tenant: acme }',
    'GET /me: { permission: authenticated, tenant: acme }',
  ],
  tables: {
    'globex.yaml': `upstream: main
prefix: /globex
tenant: globex
routes:
  GET /docs: docs:read
  GET /logo: public
  GET /shared: { permission: docs:read, tenant: "*" }
  GET /acme: { permission: docs:read, tenant: acme }
`,
  },
})
await world.seat('Reader', ['main'], ['docs:read'])
await world.seat('Reader', ['main'], ['docs:read'], 'globex')

async function askedBy(tenant: 'acme' | 'globex', path: string, space: string | null = 'main') {
  const headers = {
    authorization: `Bearer ${await world.token(['main:Reader'], { tenant, sub: 'alice' })}`,
    ...(space === null ? {} : { space }),
  }
  const { status, json } = await world.client.send('GET', path, headers)
  return status === 200 ? 200 : `${status} ${String(json['code'])}`
}

t.test('callers of another tenant are refused', async (t) => {
  for (const path of ['/any', '/globex/shared']) {
    t.equal(await askedBy('acme', path), 200, path)
    t.equal(await askedBy('globex', path), 200, path)
  }
  for (const path of ['/mine', '/me', '/globex/acme']) {
    t.equal(await askedBy('acme', path), 200, path)
    t.equal(await askedBy('globex', path), '403 tenant_mismatch', path)
  }
  t.equal(await askedBy('globex', '/globex/docs'), 200)
  t.equal(await askedBy('acme', '/globex/docs'), '403 tenant_mismatch')
  t.equal((await world.client.send('GET', '/globex/logo')).status, 200, 'public')
})

t.test('the tenant is looked at behind the credential and before the space', async (t) => {
  t.equal((await world.client.send('GET', '/mine')).status, 401)
  t.equal(await askedBy('globex', '/mine', null), '403 tenant_mismatch')
  t.equal(await askedBy('globex', '/mine', 'not a space'), '403 tenant_mismatch')
  t.equal(await askedBy('acme', '/mine', null), '400 space_required')
})

t.test('an API key of another tenant', async (t) => {
  const { acme = '', globex = '' } = world.keys
  const ask = (key: string) => world.client.send('GET', '/me', { 'x-api-key': key })
  t.equal((await ask(acme)).status, 200)
  const refused = await ask(globex)
  t.equal(refused.json['code'], 'tenant_mismatch')
  t.notMatch(JSON.stringify(refused.json), 'acme', 'the refusal names no tenant')
})

t.test('the line of the log says whose request was refused', async (t) => {
  await askedBy('globex', '/mine')
  const last = () => world.log().findLast(({ code }) => code === 'tenant_mismatch')
  const caller = { tenant: 'globex', user: 'alice', route: 'GET /mine' }
  t.match(last(), { ...caller, space: 'main', seats: ['Reader:named'] }, 'the space asked for, and the Seats')
  await askedBy('globex', '/mine', 'not a space')
  t.match(last(), { ...caller, space: undefined, seats: undefined })
})

t.test('a candidate table that changes nothing but a tenant', async (t) => {
  const world = await startWorld(t, {
    routes: ['GET /a: docs:read', 'GET /b: docs:read'],
    shadow: ['GET /a: { permission: docs:read, tenant: globex }', 'GET /b: docs:read'],
  })
  await world.seat('Reader', ['main'], ['docs:read'])
  const headers = { authorization: `Bearer ${await world.token(['main:Reader'])}`, space: 'main' }
  await holdLease(t, world)
  const counted = (result: string) => metric(world, `seatgate_shadow_decisions_total{result="${result}"}`)
  const before = await counted('same')
  for (const path of ['/a', '/b']) t.equal((await world.client.send('GET', path, headers)).status, 200)
  await until(async () => (await counted('same')) > before, 'the decision on /b')
  t.equal(await counted('allow_to_deny'), 1, '/a')
})
