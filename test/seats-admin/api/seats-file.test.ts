/** `POST /v1/seats/plan` and `POST /v1/seats/apply`: bodies, answers, warnings. The store's conformance has the rules. */

import t from 'tap'
import { inSpace } from '../store/conformance.ts'
import { KEYS, SEAT, SEATS, startApi, UNADMINISTERED } from './support.ts'

const PLAN = 'POST /v1/seats/plan'
const APPLY = 'POST /v1/seats/apply'
const VIEWER = { spaces: ['one'], permissions: ['trainings:list'] }

t.test('a plan, its application, and nothing to do', async (t) => {
  const { body, call, announced, store } = await startApi(t)
  const { id } = await body(`POST ${SEATS}`, { body: { name: 'Old', spaces: ['one'], permissions: ['x:y'] } })
  await body(`POST ${SEATS}`, { body: { name: 'Other', ...VIEWER } })
  await body(`POST ${KEYS}`, { body: { name: 'ci', seats: ['Old'] } })
  await store.recordSignIn('acme', { sub: 'ann', email: null, name: null, at: 1 }, [id])
  const file = {
    tenant: 'acme',
    seats: {
      New: { ...VIEWER, was: 'Old' },
      Made: { spaces: ['two'], permissions: ['*', 'trainings:lists'] },
    },
  }
  const plan = await body(PLAN, { body: file })
  t.match(plan, {
    tenant: 'acme',
    space: 'admin',
    unchanged: 0,
    unnamed: { count: 1, names: ['Other'] },
    changes: [
      {
        action: 'create',
        name: 'Made',
        spaces_added: ['two'],
        permissions_added: ['*', 'trainings:lists'],
        users: 0,
        routes_gained: { count: 1, routes: ['GET /v1/trainings'] },
      },
      {
        action: 'update',
        name: 'New',
        was: 'Old',
        id,
        spaces_added: [],
        spaces_removed: [],
        permissions_added: ['trainings:list'],
        permissions_removed: ['x:y'],
        users: 1,
        api_keys: { count: 1, names: ['ci'] },
        routes_gained: { count: 1, routes: ['GET /v1/trainings'] },
        routes_lost: { count: 0, routes: [] },
      },
    ],
    warnings: [
      ...UNADMINISTERED,
      {
        path: '/seats/Made/permissions/1',
        code: 'permission_unasked',
        message: 'no route requires trainings:lists: perhaps trainings:list is meant',
      },
    ],
    versions: { Made: null, New: /^"1-/ },
  })
  const before = announced.length
  const applied = await body(APPLY, { body: { ...file, versions: plan.versions } })
  t.match(applied, {
    tenant: 'acme',
    unchanged: 0,
    changes: [
      { action: 'create', name: 'Made' },
      { action: 'update', name: 'New', was: 'Old', id },
    ],
    warnings: [...UNADMINISTERED, { code: 'permission_unasked' }],
  })
  // What the file has already may be so by a write that is not known everywhere yet: the feed has it.
  t.same(
    announced.slice(before).map(({ changes }) => changes.length),
    [0, 5],
  )

  t.match(await body(PLAN, { body: file }), { changes: [], unchanged: 2, versions: {} })
  t.match((await call(APPLY, { body: { ...file, versions: plan.versions } })).refused, {
    refused: 'precondition_failed',
  })
  t.equal(announced.length, before + 2)
  t.match(await body(APPLY, { body: file }), { changes: [], unchanged: 2 })
  t.match(announced.at(-1), { seq: announced.at(-2)?.seq, changes: [] }, 'waits for what made it so')
})

t.test('routes of a Seat without spaces, and below *', async (t) => {
  const { body } = await startApi(t)
  const planned = async (seat: object) => (await body(PLAN, { body: { seats: { A: seat } } })).changes[0]
  t.match(await planned({ spaces: [], permissions: ['*'] }), { routes_gained: { count: 0 } })
  await body(`POST ${SEATS}`, { body: { name: 'A', ...VIEWER } })
  t.match(await planned({ spaces: ['one'], permissions: ['*'] }), { routes_gained: { count: 0 } })
  t.match(await planned({ spaces: [], permissions: ['trainings:list'] }), { routes_lost: { count: 1 } })
  t.match(await planned({ spaces: ['one'], permissions: [] }), { routes_lost: { count: 1 } })
})

t.test('bodies that are refused', async (t) => {
  const { call, store } = await startApi(t)
  const paths = async (body: unknown) => {
    const { refused } = await call(APPLY, { body })
    t.equal(refused?.refused, 'input_invalid')
    return refused?.faults?.map(({ path }) => path)
  }
  t.same(await paths(undefined), [''])
  t.same(await paths({}), ['/seats'])
  t.same(await paths({ seats: [] }), ['/seats'])
  t.same(await paths({ seats: {}, tenant: 'globex' }), ['/tenant'])
  t.same(await paths({ seats: {}, prune: 'yes' }), ['/prune'])
  t.same(await paths({ seats: {}, stray: 1 }), ['/stray'])
  t.same(await paths({ seats: {}, versions: { A: 1 } }), ['/versions/A'])
  t.same(await paths({ seats: { A: null } }), ['/seats/A'])
  t.same(await paths({ seats: { 'a/b': { spaces: ['a b'], permissions: ['x', '*', '*'], stray: 1 } } }), [
    '/seats/a~1b/stray',
    '/seats/a~1b/spaces/0',
    '/seats/a~1b/permissions/0',
  ])
  t.same(await paths({ seats: { A: { spaces: ['a', 'a'], permissions: [] } } }), ['/seats/A/spaces/1'])
  t.same(await paths({ seats: { A: VIEWER, ' A': VIEWER } }), ['/seats/ A'])
  t.same(await paths({ seats: { ['A'.repeat(257)]: VIEWER } }), ['/seats'], 'long names are not repeated')
  t.same(await paths({ seats: { A: { ...VIEWER, was: '' } } }), ['/seats/A/was'])
  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`S${at}`, VIEWER]))
  t.same(await paths({ seats: many }), ['/seats'])
  const wrong = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`S${at}`, { spaces: [] }]))
  t.equal((await paths({ seats: wrong }))?.length, 50)
  t.same((await store.listSeats('acme', { limit: 1, after: null, scope: inSpace('admin') })).data, [])
})

t.test('a member __proto__ is a Seat of that name', async (t) => {
  const { body } = await startApi(t)
  const seats = JSON.parse('{"__proto__": {"spaces": ["one"], "permissions": ["*"]}}')
  const plan = await body(PLAN, { body: { seats } })
  t.same(
    plan.changes.map(({ name }: { name: string }) => name),
    ['__proto__'],
  )
  t.ok(Object.hasOwn(plan.versions, '__proto__'))
  await body(APPLY, { body: { seats, versions: plan.versions } })
  t.match(await body(PLAN, { body: { seats } }), { changes: [], unchanged: 1 })
})

t.test('warnings of single writes', async (t) => {
  const { body, store } = await startApi(t)
  await body(`POST ${SEATS}`, { body: { name: 'admin', spaces: ['admin'], permissions: ['*'] } })
  await body(`POST ${KEYS}`, { body: { name: 'administrator', seats: ['admin'] } })
  const made = await body(`POST ${SEATS}`, {
    body: { name: 'A', spaces: ['one'], permissions: ['trainings:lists', '*'] },
  })
  t.same(made.warnings, [
    {
      path: '/permissions/0',
      code: 'permission_unasked',
      message: 'no route requires trainings:lists: perhaps trainings:list is meant',
    },
  ])
  const put = (patch: object) => body(`PUT ${SEAT}`, { id: made.id, body: patch })
  t.equal((await put({ permissions: ['trainings:list'] })).warnings, undefined)
  t.equal((await put({ spaces: [] })).warnings, undefined, 'nobody has it')
  await store.recordSignIn('acme', { sub: 'ann', email: null, name: null, at: 1 }, [made.id])
  for (let at = 0; at < 12; at++) await body(`POST ${KEYS}`, { body: { name: `k${at}`, seats: ['A'] } })
  t.same((await put({ spaces: ['one'], permissions: [] })).warnings, [
    {
      path: '/permissions',
      code: 'seat_held',
      message:
        'the Seat grants nothing now, and 1 user and 12 API keys (k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 and 2 more) have it',
    },
  ])
  const many = Array.from({ length: 150 }, (_, at) => `thing-${at}:read`)
  t.equal((await put({ permissions: many })).warnings.length, 100)
})
