/** The decisions of others than the request path are made on one state, too: of grants, of AuthZEN and of explain. */

import t from 'tap'
import { explainEndpoint } from '../../src/access/explain-endpoint.ts'
import type { TenantConfig } from '../../src/config/config.ts'
import { Decisions } from '../../src/external-authorization/authzen/authzen-decisions.ts'
import { RouteIndex } from '../../src/external-authorization/authzen/route-index.ts'
import { alice, LEASED, REQUEST, settled, SlowStore } from './slow-store.ts'

const KEY = '01KAJ0Z1V5Q8T2C0W7M3E9R4XD'

function setUp(seats: Record<string, string[]>, seatsOfKey: readonly string[] = []) {
  const store = new SlowStore()
  for (const [name, permissions] of Object.entries(seats)) store.seats.set(name, permissions)
  const record = { id: KEY, tenant: 'acme', hash: new Uint8Array(32), seatIds: seatsOfKey, expiresAt: null }
  const setKey = (revokedAt: number | null) => store.keys.set(KEY, { ...record, revokedAt, owner: null })
  setKey(null)
  return { store, setKey }
}

t.test('an administrator may grant what one state lets it grant, and not what two do', async (t) => {
  const { store } = setUp({ A: ['x:y'], B: [] })
  const engine = store.engine(() => alice(['A', 'B']))
  const request = { ...REQUEST, method: 'PUT', target: '/own' }
  t.equal((await engine.evaluate(request)).decision.code, 'allow')
  store.grant('B', [])
  store.isSlow = true
  const held = engine.held(request, 0)
  const exchange = () => store.seats.set('A', []).set('B', ['rights:all'])
  store.write(exchange, ['seat-name', 'A'], ['seat-name', 'B'])
  store.isSlow = false
  await store.release()
  t.match(await held, { code: 'permission_denied' }, 'the caller never held both permissions')
})

t.test('AuthZEN: a permission moves from a Seat of the key to another', async (t) => {
  const { store } = setUp({ A: ['x:y'], B: [] }, ['B', 'A'])
  const index = () =>
    new RouteIndex({ table: store.parts.table, methods: new Set(['GET']), upstreams: new Map() })
  const users = { readUser: async () => null }
  const parts = { memory: store.memory, store: users, tenants: new Map(), index }
  const deps = { ...parts, now: Date.now, lease: LEASED }
  const subject = { type: 'api-key', id: KEY }
  const resource = { type: 'permission', id: 'x:y' }
  const decide = () => new Decisions('acme', deps).decide({ subject, resource, action: 'use', space: 's1' })
  t.equal(await decide(), 'allow')
  store.write(() => {}, ['seat', 'A'])
  store.isSlow = true
  const decided = decide()
  await settled()
  t.same(store.waiting, ['seat A'], 'B is in memory')
  const move = () => store.seats.set('A', []).set('B', ['x:y'])
  store.write(move, ['seat', 'A'], ['seat', 'B'])
  store.isSlow = false
  await store.release()
  t.equal(await decided, 'allow')
})

t.test('explain: a key is revoked, then its Seat gains the permission', async (t) => {
  const { store, setKey } = setUp({ A: [] }, ['A'])
  const tenant = { id: 'acme', adminSpace: 'admin', token: { leeway: 0, lifetime: 1000 } } as TenantConfig
  const tenants = new Map([['acme', tenant]])
  const explaining = { engine: store.parts, tenants, identity: null, refusalOf: () => null }
  const reads = {
    listUsers: async () => ({ data: [], hasMore: false, next: null }),
    readUser: async () => null,
    seatById: async () => ({ seq: 1, mark: 1, value: null }),
    seatByName: async () => ({ seq: 1, mark: 1, value: { seat: null, givenUpAt: null } }),
    apiKeyById: async () => ({ seq: store.seq, mark: 1, value: store.keys.get(KEY) ?? null }),
  }
  const { handle } = explainEndpoint({ store: reads, now: Date.now, explaining: () => explaining })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const actor = { kind: 'user', name: null } as const
  const caller = { tenant: 'acme', by: 'root', scope, requestId: 'id', actor }
  const asked = { method: 'GET', path: '/x', space: 's1', api_key: KEY }
  store.isSlow = true
  const reply = handle({ params: {}, query: '', body: asked, ifMatch: [], accept: [], caller })
  await settled()
  t.same(store.waiting, ['seat A'])
  store.write(() => setKey(5), ['api-key', KEY])
  store.grant('A', ['x:y'])
  store.isSlow = false
  await store.release()
  t.match(await reply, { status: 200, body: { code: 'api_key_revoked' } })
})

t.test('explain: a sign-in takes the Seat of a user, then the Seat gains the permission', async (t) => {
  const { store } = setUp({ A: [] })
  const tenant = { id: 'acme', adminSpace: 'admin', token: { leeway: 0, lifetime: 1000 } } as TenantConfig
  const explaining = {
    ...{ engine: store.parts, tenants: new Map([['acme', tenant]]) },
    ...{ identity: null, refusalOf: () => null },
  }
  let seats = ['A']
  const read = Promise.withResolvers<void>()
  const written = {
    tenant: 'acme',
    version: 1,
    createdBy: 'root',
    createdAt: 1,
    updatedBy: null,
    updatedAt: null,
  }
  const permissions = () => store.seats.get('A') ?? []
  const seat = () => ({ ...written, id: 'A', name: 'A', spaces: ['s1'], permissions: permissions() })
  const reads = {
    listUsers: async () => ({ data: [], hasMore: false, next: null }),
    readUser: async () => ({ sub: 'alice', email: null, name: null, lastSignIn: 1, seats }),
    seatById: async () => ({ seq: store.seq, mark: 1, value: null }),
    seatByName: async () => {
      await read.promise
      return { seq: store.seq, mark: 1, value: { seat: seat(), givenUpAt: null } }
    },
    apiKeyById: async () => ({ seq: store.seq, mark: 1, value: null }),
  }
  const { handle } = explainEndpoint({ store: reads, now: Date.now, explaining: () => explaining })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const actor = { kind: 'user', name: null } as const
  const caller = { tenant: 'acme', by: 'root', scope, requestId: 'id', actor }
  const asked = { method: 'GET', path: '/x', space: 's1', user: 'alice' }
  const reply = handle({ params: {}, query: '', body: asked, ifMatch: [], accept: [], caller })
  await settled()
  seats = []
  store.grant('A', ['x:y'])
  read.resolve()
  t.match(await reply, { status: 200, body: { answer: 'deny' } })
})
