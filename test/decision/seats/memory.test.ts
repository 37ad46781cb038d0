import t from 'tap'
import type { SessionRecord } from '../../../seats-admin/model/session.ts'
import type { Trace } from '../../../src/model/decision.ts'
import { SeatQuestion } from '../../../src/model/seat.ts'
import { type SeatChange, SeatMemory, type SeatRow } from '../../../src/decision/seats/memory.ts'

const QUESTION = new SeatQuestion('s1', 'trainings:list')

/** A store that answers at once, of what the test has put there. */
function setUp() {
  const asked: string[] = []
  const store = { seq: 1, source: 'store' as 'redis' | 'store', permissions: ['trainings:list'] }
  const seat = (id: string, name: string): SeatRow => ({
    id,
    name,
    spaces: ['s1', 's2'],
    permissions: store.permissions,
    complete: true,
  })
  const answer = <V>(question: string, value: V) => {
    asked.push(question)
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
          : { id, tenant, hash: new Uint8Array(32), seatIds: ['a', 'b'], expiresAt: null, revokedAt: 9 },
      ),
  }
  const sessions = {
    readSession: (tenant: string, id: string) =>
      answer<SessionRecord | null>(`session ${tenant} ${id}`, null),
  }
  return { asked, store, memory: new SeatMemory(source, sessions, 2 ** 24) }
}

const change = (kind: string, key: string, seq = 2, tenant = 'acme') =>
  ({ seq, tenant, kind, key }) as SeatChange

/** Asks for one of each kind. */
async function askAll(memory: SeatMemory, tenant = 'acme'): Promise<void> {
  await memory.seatByName(tenant, 'Viewer', QUESTION)
  await memory.seatById(tenant, 'Viewer', QUESTION)
  await memory.apiKeyById(tenant, 'Viewer')
  await memory.sessionById(tenant, 'Viewer')
}

t.test('gives what the store gave, compiled, and asks once', async (t) => {
  const { asked, memory } = setUp()
  const named = await memory.seatByName('acme', 'Viewer', QUESTION)
  t.equal(named.givenUpAt, 5)
  t.same([...(named.seat?.spaces ?? [])], ['s1', 's2'])
  t.ok(named.seat?.permissions.has('trainings:list'))
  t.ok(Object.isFrozen(named.seat))
  const key = await memory.apiKeyById('acme', 'k1')
  t.match(key, { id: 'k1', tenant: 'acme', seatIds: ['a', 'b'], revokedAt: 9 })
  t.ok(Object.isFrozen(key))
  t.equal(memory.seatByName('acme', 'Viewer', QUESTION), named, 'at once')
  t.equal(memory.apiKeyById('acme', 'k1'), key)
  t.same(asked, ['name acme Viewer', 'key acme k1'])
})

t.test('what is not there is remembered too', async (t) => {
  const { asked, memory } = setUp()
  t.equal((await memory.seatByName('acme', 'Nobody', QUESTION)).seat, null)
  t.equal(await memory.seatById('acme', 'none', QUESTION), null)
  t.equal(await memory.apiKeyById('acme', 'none'), null)
  t.equal(memory.seatById('acme', 'none', QUESTION), null)
  t.equal(memory.apiKeyById('acme', 'none'), null)
  t.equal(asked.length, 3)
})

t.test('a change makes forget what it names: of that kind, that key, that tenant', async (t) => {
  const kinds = { 'seat-name': 'name', seat: 'seat', 'api-key': 'key', session: 'session' }
  for (const [kind, asks] of Object.entries(kinds)) {
    const { asked, store, memory } = setUp()
    await askAll(memory)
    await askAll(memory, 'other')
    store.seq = 2
    memory.applyAnnouncement([change(kind, 'Viewer')])
    asked.length = 0
    await askAll(memory)
    await askAll(memory, 'other')
    t.same(asked, [`${asks} acme Viewer`])
  }
})

t.test('a reading does so as well; where its changes are unknown, it makes forget everything', async (t) => {
  const { asked, store, memory } = setUp()
  await askAll(memory)
  store.seq = 2
  asked.length = 0
  memory.applyReading([change('seat', 'Viewer')])
  await askAll(memory)
  t.same(asked, ['seat acme Viewer'])
  memory.applyReading(null)
  t.same(memory.sizes, { names: 0, seats: 0, keys: 0, sessions: 0 })
})

t.test('a kind of change that it does not know may be of anything', async (t) => {
  const { memory } = setUp()
  await askAll(memory)
  t.same(memory.sizes, { names: 1, seats: 1, keys: 1, sessions: 1 })
  memory.applyAnnouncement([change('tenant', 'Viewer')])
  t.same(memory.sizes, { names: 0, seats: 0, keys: 0, sessions: 0 })
})

t.test('names and ids are kept apart, whatever is in them', async (t) => {
  const { asked, memory } = setUp()
  await memory.seatByName('a', 'b\0c', QUESTION)
  await memory.seatByName('a', 'b', QUESTION)
  await memory.seatById('a', 'b', QUESTION)
  t.same(asked, ['name a b\0c', 'name a b', 'seat a b'])
})

t.test('says where a decision has its Seats from', async (t) => {
  const { store, memory } = setUp()
  const ask = async () => {
    const trace: Trace = { source: 'memory' }
    await memory.seatByName('acme', 'Viewer', QUESTION, trace)
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

/** A store that has everything but what begins with `none`, and the questions it was asked. */
function stocked(permissions: (name: string) => string[]) {
  const asked: string[] = []
  const asOf = async <V>(question: string, value: V) => {
    asked.push(question)
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
            : { id, tenant, hash, seatIds: ['a'], expiresAt: null, revokedAt: null },
        ),
    },
    { readSession: (_tenant, id) => asOf(id, null) },
    2 ** 20,
  )
  return { asked, memory }
}

t.test('keys and sessions that are invented push out nothing that is there', async (t) => {
  const { asked, memory } = stocked(() => ['a:b'])
  for (let i = 0; i < 200; i++) await memory.seatByName('acme', `Seat ${i}`, QUESTION)
  await memory.apiKeyById('acme', 'k1')
  for (let i = 0; i < 20_000; i++) {
    await memory.apiKeyById('acme', `none-${i}`)
    await memory.sessionById('acme', `none-${i}`)
  }
  t.ok(memory.bytes <= 2 ** 20)
  asked.length = 0
  for (let i = 0; i < 200; i++) await memory.seatByName('acme', `Seat ${i}`, QUESTION)
  await memory.apiKeyById('acme', 'k1')
  await memory.apiKeyById('acme', 'none-19999')
  t.same(asked, [], 'and the last of them is remembered')
  memory.applyAnnouncement([change('api-key', 'none-19999')])
  await memory.apiKeyById('acme', 'none-19999')
  t.same(asked, ['none-19999'], 'until it is made')
})

t.test('a Seat of thousands of permissions pushes out nobody', async (t) => {
  const { asked, memory } = stocked((name) =>
    name === 'Huge' ? Array.from({ length: 5000 }, (_, at) => `resource-${at}:read`) : ['a:b'],
  )
  for (let i = 0; i < 200; i++) await memory.seatByName('acme', `Seat ${i}`, QUESTION)
  for (let i = 0; i < 50; i++) {
    const { seat } = await memory.seatByName('globex', 'Huge', QUESTION)
    t.equal(seat?.permissions.size, 5000)
  }
  asked.length = 0
  for (let i = 0; i < 200; i++) await memory.seatByName('acme', `Seat ${i}`, QUESTION)
  t.same(asked, [])
})

t.test('a hash that is a piece of something larger is kept by itself', async (t) => {
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
  }
  const memory = new SeatMemory(
    {
      grantByName: () => asOf({ seat: null, givenUpAt: null }),
      spacesByName: () => asOf(null),
      seatById: () => asOf(null),
      grantById: () => asOf(null),
      apiKeyById: (tenant, id) =>
        asOf({ id, tenant, hash: key, seatIds: [], expiresAt: null, revokedAt: null }),
    },
    { readSession: (tenant, id) => asOf({ id, tenant, cookieHash: cookie, ...person }) },
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
