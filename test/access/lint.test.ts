/** The findings of `lint`. */

import t from 'tap'
import {
  type LintedIssuer,
  type LintedKey,
  type LintedSeat,
  lintRoutes,
  lintTenant,
} from '../../src/access/table-lint.ts'
import { tablesOf } from './random-tables.ts'

const NOW = Date.UTC(2026, 10, 23)
const { routes } = tablesOf({
  lines: ['GET /a: a:read', 'PUT /a: a:write', 'GET /b: public', 'GET /c: authenticated'],
}).table

interface Given {
  readonly seats?: Readonly<Record<string, Partial<LintedSeat>>>
  readonly keys?: readonly Partial<LintedKey>[]
  readonly issuers?: readonly LintedIssuer[]
  readonly granted?: readonly string[]
  readonly groups?: readonly string[] | null
  readonly administered?: boolean | null
}

async function found({
  seats = {},
  keys = [],
  issuers = [],
  granted = [],
  groups = null,
  administered = null,
}: Given): Promise<string[]> {
  const all = Object.entries(seats).map(([name, seat]) => ({
    name,
    spaces: ['main'],
    permissions: ['a:read', 'a:write'],
    members: 1,
    ...seat,
  }))
  const every = keys.map((key) => ({ name: 'robot', seats: [], expiresAt: null, ...key }))
  const tenant = {
    id: 'acme',
    adminSpace: 'admin',
    issuers,
    seats: all,
    keys: every,
    granted,
    groups,
    administered,
  }
  const findings = await lintTenant(routes, tenant, NOW)
  return findings.map(({ code, level, seat, api_key: key, route, group, permission, suggestion }) =>
    [code, level, seat, key, route, group, permission, suggestion]
      .filter((each) => each !== undefined)
      .join(' '),
  )
}

t.test('a tenant that no one can administer', async (t) => {
  t.same(await found({ seats: { A: {} }, keys: [{ seats: ['A'] }], administered: false }), [
    'nobody_administers error',
  ])
  t.same(await found({ seats: { A: {} }, keys: [{ seats: ['A'] }], administered: true }), [])
})

t.test('groups of SCIM', async (t) => {
  const seats = { Viewer: {}, root: { permissions: ['*'] } }
  t.same(await found({ seats, groups: ['Viewer', 'viewer', 'Everyone at Acme', 'root'] }), [
    'wildcard_seat info root *',
    'group_without_seat info viewer Viewer',
    'group_without_seat info Everyone at Acme',
    'group_administers info root root',
  ])
  const manager = { spaces: ['admin'], permissions: ['seats:grant', 'seats:update', 'a:read', 'a:write'] }
  t.same(await found({ seats: { A: {}, manager }, groups: ['manager'] }), [
    'administrator_single info manager',
    'group_administers info manager manager',
  ])
  t.same(await found({ seats, groups: [] }), ['wildcard_seat info root *'])
  t.same(await found({ seats: { A: {} } }), [], 'the latest sign-in gives the Seats')
})

t.test('nothing to find', async (t) => {
  t.same(await found({ seats: { A: {} }, keys: [{ seats: ['A'] }] }), [])
})

t.test('permissions that no route requires', async (t) => {
  t.same(await found({ seats: { A: { permissions: ['a:read', 'a:write', 'a:raed', 'other:thing'] } } }), [
    'permission_unasked warning A a:raed a:read',
    'permission_unasked warning A other:thing',
  ])
  const own = ['seats:list', 'seats:grant', 'api-keys:create', 'access:evaluate']
  t.same(
    await found({ seats: { A: { permissions: ['a:read', 'a:write', ...own] } } }),
    [],
    'those of the gateway',
  )
})

t.test('routes that no Seat opens', async (t) => {
  t.same(await found({}), ['route_ungranted warning GET /a a:read', 'route_ungranted warning PUT /a a:write'])
  t.same(await found({ seats: { A: { permissions: ['a:read'] } } }), [
    'route_ungranted warning PUT /a a:write',
  ])
  t.same(await found({ seats: { A: { permissions: ['*'] } } }), ['wildcard_seat info A *'])
  const ofAdministrators = await found({ seats: { A: { permissions: ['*'], spaces: ['admin'] } } })
  t.ok(
    ofAdministrators.includes('route_ungranted warning GET /a a:read'),
    'a tenant that was just bootstrapped',
  )
  const beyond = await found({ seats: { A: { permissions: ['*'], spaces: ['admin', 'main'] } } })
  t.notOk(beyond.some((each) => each.startsWith('route_ungranted')))
})

t.test('Seats that nobody is known to hold', async (t) => {
  t.same(await found({ seats: { A: { members: 0 } } }), ['seat_unused info A'])
  t.same(await found({ seats: { A: { members: 0 } }, granted: ['A'] }), [])
  t.same(await found({ seats: { A: { members: 0 } }, keys: [{ seats: ['A'] }] }), [])
  t.same(await found({ seats: { A: { members: null } } }), [], 'not known')
})

t.test('API keys', async (t) => {
  const seats = { A: {} }
  t.same(await found({ seats, keys: [{ seats: [] }] }), ['key_without_seats warning robot'])
  t.same(await found({ seats, keys: [{ seats: ['A'], expiresAt: NOW }] }), ['key_expired info robot'])
  t.same(await found({ seats, keys: [{ seats: ['A'], expiresAt: NOW + 1 }] }), [])
})

t.test('Seats that the configuration gives to tokens of an issuer', async (t) => {
  const issuer = (...names: string[]) => ({ issuer: 'https://ci.example', seats: names })
  const seats = { Deployer: { members: 0 } }
  t.same(await found({ seats, issuers: [issuer('Deployer')] }), [])
  t.same(await found({ seats, issuers: [issuer('Deployr', 'Deployer')] }), [
    'seat_unknown warning Deployr Deployer',
  ])
  const claimed = { issuer: 'https://ci.example', seats: null }
  t.same(await found({ seats, issuers: [claimed] }), ['seat_unused info Deployer'])
})

t.test('one administrator', async (t) => {
  const admin = { spaces: ['admin'], permissions: ['a:read', 'a:write', 'seats:update', 'seats:grant'] }
  t.same(await found({ seats: { A: admin } }), ['administrator_single info A'])
  t.same(await found({ seats: { A: admin, B: admin } }), [])
})

t.test('public routes, those of the gateway aside', async (t) => {
  t.match(lintRoutes(routes), [{ code: 'route_public', level: 'info', tenant: null, route: 'GET /b' }])
  t.equal(lintRoutes(routes).length, 1)
})

t.test('10,000 Seats with the same wrong name', async (t) => {
  const seats = Array.from({ length: 10_000 }, (_, index) => [
    `Seat ${index}`,
    { permissions: ['a:read', 'a:write', 'a:wrote'] },
  ])
  t.equal((await found({ seats: Object.fromEntries(seats) })).length, 10_000)
})
