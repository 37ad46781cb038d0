import type { GrantReading } from '../../../seats-admin/model/readings.ts'
import t from 'tap'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import { SeatQuestion } from '../../../src/model/decision-seat.ts'
import { type SeatChange, SeatMemory } from '../../../src/decision/seats/memory.ts'
import { NO_RESTRICTIONS } from './no-restrictions.ts'
import { traceFrom } from '../trace.ts'

const QUERY = new SeatQuestion('s1', 'trainings:list')

/** A store that returns the test's values at once. */
function setUp() {
  const reads: string[] = []
  const store = {
    seq: 1,
    source: 'store' as 'redis' | 'store',
    permissions: ['trainings:list'],
  }
  const seat = (id: string, name: string): GrantReading => ({
    id,
    name,
    spaces: ['s1', 's2'],
    permissions: store.permissions,
    complete: true,
  })
  const answer = <V>(query: string, value: V) => {
    reads.push(query)
    return Promise.resolve({ seq: store.seq, source: store.source, value })
  }
  const source = {
    grantByName: (tenant: string, name: string) =>
      answer(`name ${tenant} ${name}`, { seat: name === 'Nobody' ? null : seat('id', name), givenUpAt: 5 }),
    spacesByName: (tenant: string, name: string) =>
      answer(`spaces ${tenant} ${name}`, { id: 'id', name, spaces: ['s1'] }),
    seatById: (tenant: string, id: string) => answer(`whole ${tenant} ${id}`, null),
    grantById: (tenant: string, id: string) =>
      answer(`seat ${tenant} ${id}`, id === 'none' ? null : seat(id, 'Viewer')),
    apiKeyById: (tenant: string, id: string) =>
      answer(
        `key ${tenant} ${id}`,
        id === 'none'
          ? null
          : {
              id,
              tenant,
              hash: new Uint8Array(32),
              seatIds: ['a', 'b'],
              expiresAt: null,
              revokedAt: 9,
              owner: null,
            },
      ),
  }
  const sessions = {
    readSession: (tenant: string, id: string) =>
      answer<SessionRecord | null>(`session ${tenant} ${id}`, null),
    restrictions: (tenant: string) =>
      answer(`restrictions ${tenant}`, { now: 0, users: [], issuers: {}, tenant: null }),
    userRestriction: () => Promise.reject(new Error('the list is whole')),
    groups: (tenant: string, member: string) =>
      answer(`groups ${tenant} ${member}`, {
        user: member === 'none' ? null : { active: true, groups: ['Viewer'] },
      }),
    grants: (tenant: string) => answer(`grants ${tenant}`, { now: 0, users: [] }),
    userGrants: () => Promise.reject(new Error('the list is whole')),
  }
  const memory = new SeatMemory(source, sessions, 2 ** 24)
  return { reads, store, memory }
}

const change = (kind: string, key: string, seq = 2, tenant = 'acme') =>
  ({ seq, tenant, kind, key }) as SeatChange

/** Keys that are JSON. */
const KEYS: Readonly<Record<string, string>> = {
  block: '"Viewer"',
  grant: '"Viewer"',
  membership: '["Viewer","viewer"]',
}

/** Looks up one of each kind. */
async function askAll(memory: SeatMemory, tenant = 'acme'): Promise<void> {
  await memory.seatByName(tenant, 'Viewer', QUERY)
  await memory.seatById(tenant, 'Viewer', QUERY)
  await memory.apiKeyById(tenant, 'Viewer')
  await memory.sessionById(tenant, 'Viewer')
  await memory.groupsOf(tenant, 'externalId:Viewer')
  await memory.grantsOf({ method: 'bearer', tenant, owner: 'Viewer' })
  await memory.restriction({ method: 'bearer', tenant, owner: 'Viewer', issuedAt: 0 })
}

t.test("returns the store's values, compiled, and reads once", async (t) => {
  const { reads, memory } = setUp()
  const named = await memory.seatByName('acme', 'Viewer', QUERY)
  t.equal(named.givenUpAt, 5)
  t.same([...(named.seat?.spaces ?? [])], ['s1', 's2'])
  t.ok(named.seat?.permissions.has('trainings:list'))
  t.ok(Object.isFrozen(named.seat))
  const key = await memory.apiKeyById('acme', 'k1')
  t.match(key, { id: 'k1', tenant: 'acme', seatIds: ['a', 'b'], revokedAt: 9, owner: null })
  t.ok(Object.isFrozen(key))
  t.equal(memory.seatByName('acme', 'Viewer', QUERY), named, 'synchronously')
  t.equal(memory.apiKeyById('acme', 'k1'), key)
  t.same(reads, ['name acme Viewer', 'key acme k1'])
})

t.test('absent values are cached too', async (t) => {
  const { reads, memory } = setUp()
  t.equal((await memory.seatByName('acme', 'Nobody', QUERY)).seat, null)
  t.equal(await memory.seatById('acme', 'none', QUERY), null)
  t.equal(await memory.apiKeyById('acme', 'none'), null)
  t.equal(memory.seatById('acme', 'none', QUERY), null)
  t.equal(memory.apiKeyById('acme', 'none'), null)
  t.equal(reads.length, 3)
})

t.test('a change invalidates the key that it names, of that kind and tenant', async (t) => {
  const kinds = {
    'seat-name': 'name acme Viewer',
    seat: 'seat acme Viewer',
    'api-key': 'key acme Viewer',
    session: 'session acme Viewer',
    block: 'restrictions acme',
    membership: 'groups acme externalId:Viewer',
    grant: 'grants acme',
  }
  for (const [kind, asks] of Object.entries(kinds)) {
    const { reads, store, memory } = setUp()
    await askAll(memory)
    await askAll(memory, 'other')
    store.seq = 2
    memory.applyAnnouncement([change(kind, KEYS[kind] ?? 'Viewer')])
    reads.length = 0
    await askAll(memory)
    await askAll(memory, 'other')
    t.same(reads, [asks])
  }
})

t.test('a read of the feed does too; with unknown changes it invalidates everything', async (t) => {
  const { reads, store, memory } = setUp()
  await askAll(memory)
  store.seq = 2
  reads.length = 0
  memory.applyReading([change('seat', 'Viewer')], { seq: 2 })
  await askAll(memory)
  t.same(reads, ['seat acme Viewer'])
  memory.applyReading(null, { seq: 2 })
  t.same(memory.sizes, { names: 0, seats: 0, keys: 0, sessions: 0, memberships: 0, grants: 0, blocks: 0 })
})

t.test('an unknown kind of change may affect any key', async (t) => {
  const { memory } = setUp()
  await askAll(memory)
  t.same(memory.sizes, { names: 1, seats: 1, keys: 1, sessions: 1, memberships: 1, grants: 1, blocks: 1 })
  memory.applyAnnouncement([change('tenant', 'Viewer')])
  t.same(memory.sizes, { names: 0, seats: 0, keys: 0, sessions: 0, memberships: 0, grants: 0, blocks: 0 })
})

t.test('any text is safe as a name or id', async (t) => {
  const { reads, memory } = setUp()
  await memory.seatByName('a', 'b\0c', QUERY)
  await memory.seatByName('a', 'b', QUERY)
  await memory.seatById('a', 'b', QUERY)
  t.same(reads, ['name a b\0c', 'name a b', 'seat a b'])
})

t.test("the trace has the sources of a decision's Seats", async (t) => {
  const { store, memory } = setUp()
  const ask = async () => {
    const trace = traceFrom()
    await memory.seatByName('acme', 'Viewer', QUERY, trace)
    await memory.apiKeyById('acme', 'k1', trace)
    return trace.source
  }
  t.equal(await ask(), 'store')
  t.equal(await ask(), 'memory')
  store.source = 'redis'
  store.seq = 2
  memory.applyAnnouncement([change('api-key', 'k1')])
  t.equal(await ask(), 'redis')
})

/** A store that has everything except ids that begin with `none`, and the reads that it received. */
function stocked(permissions: (name: string) => string[]) {
  const reads: string[] = []
  const asOf = async <V>(query: string, value: V) => {
    reads.push(query)
    return { seq: 1, value }
  }
  const seat = (name: string) => ({
    id: name,
    name,
    spaces: ['s1'],
    permissions: permissions(name),
    complete: true,
  })
  const hash = new Uint8Array(32)
  const memory = new SeatMemory(
    {
      grantByName: (_tenant, name) => asOf(name, { seat: seat(name), givenUpAt: null }),
      spacesByName: () => asOf('spaces', null),
      seatById: () => asOf('whole', null),
      grantById: (_tenant, id) => asOf(id, seat(id)),
      apiKeyById: (tenant, id) =>
        asOf(
          id,
          id.startsWith('none')
            ? null
            : { id, tenant, hash, seatIds: ['a'], expiresAt: null, revokedAt: null, owner: null },
        ),
    },
    { ...NO_RESTRICTIONS, readSession: (_tenant, id) => asOf(id, null) },
    2 ** 20,
  )
  return { reads, memory }
}

/** Of invented keys: more than memory can hold. */
const MANY = 5000

t.test('invented keys and sessions evict no existing ones', async (t) => {
  const { reads, memory } = stocked(() => ['a:b'])
  for (let i = 0; i < 200; i++) await memory.seatByName('acme', `Seat ${i}`, QUERY)
  await memory.apiKeyById('acme', 'k1')
  for (let i = 0; i < MANY; i++) {
    await memory.apiKeyById('acme', `none-${i}`)
    await memory.sessionById('acme', `none-${i}`)
  }
  t.ok(memory.bytes <= 2 ** 20)
  t.ok(memory.sizes.keys < MANY, `${memory.sizes.keys} keys`)
  reads.length = 0
  for (let i = 0; i < 200; i++) await memory.seatByName('acme', `Seat ${i}`, QUERY)
  await memory.apiKeyById('acme', 'k1')
  await memory.apiKeyById('acme', `none-${MANY - 1}`)
  t.same(reads, [], 'the last of them is cached')
  memory.applyAnnouncement([change('api-key', `none-${MANY - 1}`)])
  await memory.apiKeyById('acme', `none-${MANY - 1}`)
  t.same(reads, [`none-${MANY - 1}`], 'until it is created')
})

t.test('a Seat of thousands of permissions evicts no others', async (t) => {
  const { reads, memory } = stocked((name) =>
    name === 'Huge' ? Array.from({ length: 5000 }, (_, at) => `resource-${at}:read`) : ['a:b'],
  )
  for (let i = 0; i < 200; i++) await memory.seatByName('acme', `Seat ${i}`, QUERY)
  for (let i = 0; i < 50; i++) {
    const { seat } = await memory.seatByName('globex', 'Huge', QUERY)
    t.equal(seat?.permissions.size, 5000)
  }
  reads.length = 0
  for (let i = 0; i < 200; i++) await memory.seatByName('acme', `Seat ${i}`, QUERY)
  t.same(reads, [])
})

t.test('a hash that is a slice of a larger buffer is copied', async (t) => {
  const [key, cookie] = [Buffer.from('ab'.repeat(32), 'hex'), Buffer.from('cd'.repeat(32), 'hex')]
  t.ok(key.buffer.byteLength > 1000)
  const asOf = async <V>(value: V) => ({ seq: 1, value })
  const person = {
    user: 'a',
    email: null,
    hashPerm: [],
    issuedAt: 1,
    renewAt: 2,
    expiresAt: 3,
    endedAt: null,
    revoked: false,
    voidUntil: 0,
  }
  const memory = new SeatMemory(
    {
      grantByName: () => asOf({ seat: null, givenUpAt: null }),
      spacesByName: () => asOf(null),
      seatById: () => asOf(null),
      grantById: () => asOf(null),
      apiKeyById: (tenant, id) =>
        asOf({ id, tenant, hash: key, seatIds: [], expiresAt: null, revokedAt: null, owner: null }),
    },
    { ...NO_RESTRICTIONS, readSession: (tenant, id) => asOf({ id, tenant, cookieHash: cookie, ...person }) },
    2 ** 20,
  )
  const kept = [
    (await memory.apiKeyById('acme', 'a'))?.hash,
    (await memory.sessionById('acme', 'a'))?.cookieHash,
  ]
  t.same(
    kept.map((hash) => hash && Buffer.from(hash).toString('hex')),
    ['ab'.repeat(32), 'cd'.repeat(32)],
  )
  t.same(
    kept.map((hash) => hash?.buffer.byteLength),
    [32, 32],
  )
})
