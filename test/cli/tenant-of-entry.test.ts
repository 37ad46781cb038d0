/** What the commands say of entries that are for the callers of one tenant. */

import t from 'tap'
import { CONFIG, folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const TENANTS = CONFIG.replace(
  'upstreams:',
  '  globex: { token: { secrets: ["${ACME_SECRET}, of globex"] } }\nupstreams:',
)
const ROUTES = `upstream: trainings
routes:
  GET /ours: { permission: docs:read, tenant: acme }
  GET /theirs: { permission: docs:read, tenant: globex }
  GET /me: { permission: authenticated, tenant: globex }
  GET /all: docs:read
`
const SEATS = 'tenant: acme\nseats:\n  Viewer: { spaces: [main], permissions: [docs:read] }\n'
const POLICY = `${SEATS}  Other: { spaces: [main], permissions: [docs:list] }
cases:
  - { request: GET /ours, seats: [Viewer], space: main, expect: allow }
  - { request: GET /theirs, seats: [Viewer], space: main, expect: tenant_mismatch }
  - { request: GET /me, seats: [Viewer], expect: tenant_mismatch }
assert:
  - { only: [Other], may: GET /theirs }
`
const cwd = folderWith(t, {
  'gateway.config.yaml': TENANTS,
  'routes/a.yaml': ROUTES,
  'before/gateway.config.yaml': TENANTS,
  'before/routes/a.yaml': ROUTES.replace('tenant: acme', 'tenant: globex')
    .replace('GET /all: docs:read', 'GET /all: { permission: docs:read, tenant: globex }')
    .replace('permission: authenticated, tenant: globex', 'permission: authenticated'),
  'seats.yaml': SEATS,
  'policy/a.yaml': POLICY,
})
const run = (...args: string[]) => seatgateHere(cwd, args)

t.test('diff: an entry without a tenant takes callers of every one', async (t) => {
  const { out } = await run('diff', 'before', '.', '--seats', 'seats.yaml', '--json')
  const changes = JSON.parse(out).changes.map(
    ({ kind, pattern, old, new: now, seats }: Record<string, Record<string, unknown>>) => [
      kind,
      pattern,
      old?.['tenant'] ?? null,
      now?.['tenant'] ?? null,
      seats,
    ],
  )
  t.same(changes, [
    ['loosened', '/all', 'globex', null, { gain: ['Viewer'], lose: [] }],
    ['changed', '/ours', 'globex', 'acme', { gain: ['Viewer'], lose: [] }],
    ['tightened', '/me', null, 'globex', { gain: [], lose: ['Viewer'] }],
  ])
  t.match(await run('diff', 'before', '.'), { code: 3, out: /docs:read → trainings, tenant: acme/ })
})

t.test('who-can and can: callers of another tenant can not', async (t) => {
  const who = (path: string) => run('who-can', 'GET', path, '--seats', 'seats.yaml')
  t.match((await who('/ours')).out, '"Viewer"')
  for (const path of ['/theirs', '/me']) {
    const { out } = await who(path)
    t.notMatch(out, 'Viewer', path)
    t.match(out, 'tenant acme: none of its callers can, as the route is for those of tenant globex', path)
  }
  const rows = async (...more: string[]) => {
    const { out } = await run('can', '--seat', 'Viewer', '--seats', 'seats.yaml', '--json', ...more)
    return JSON.parse(out).map(({ path }: { path: string }) => path)
  }
  t.same(
    (await rows()).filter((path: string) => !/^\/(?:v1|auth)\//.test(path)),
    ['/ours', '/all'],
  )
  const not = await rows('--not')
  t.ok(not.includes('/theirs') && not.includes('/me') && !not.includes('/ours'))
})

t.test('test and lint: by the tenant of their Seats', async (t) => {
  t.match(await run('test', 'policy/a.yaml'), { code: 0, err: '' })
  const { out } = await run('lint', '--seats', 'seats.yaml', '--json')
  t.notMatch(out, 'route_ungranted', 'acme grants nothing that globex is asked for')
})
