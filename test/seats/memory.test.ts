import t from 'tap'
import type { SessionRecord, Trace } from '../../src/exchange.ts'
import { type SeatChange, SeatMemory, type SeatRow } from '../../src/seats/memory.ts'

/** A store that answers at once, of what the test has put there. */
function setUp() {
  const asked: string[] = []
  const store = { seq: 1, source: 'store' as 'redis' | 'store', permissions: ['trainings:list'] }
  const seat = (id: string, name: string): SeatRow => ({
    id,
    name,
    spaces: ['s1', 's2'],
    permissions: store.permissions,
  })
  const answer = <V>(question: string, value: V) => {
    asked.push(question)
    return Promise.resolve({ seq: store.seq, source: store.source, value })
  }
  const source = {
    seatByName: (tenant: string, name: string) =>
      answer(`name ${tenant} ${name}`, { seat: name === 'Nobody' ? null : seat('id', name), givenUpAt: 5 }),
    seatById: (tenant: string, id: string) =>
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
  await memory.seatByName(tenant, 'Viewer')
  await memory.seatById(tenant, 'Viewer')
  await memory.apiKeyById(tenant, 'Viewer')
  await memory.sessionById(tenant, 'Viewer')
}

t.test('gives what the store gave, compiled, and asks once', async (t) => {
  const { asked, memory } = setUp()
  const named = await memory.seatByName('acme', 'Viewer')
  t.equal(named.givenUpAt, 5)
  t.same([...(named.seat?.spaces ?? [])], ['s1', 's2'])
  t.ok(named.seat?.permissions.has('trainings:list'))
  t.ok(Object.isFrozen(named.seat))
  const key = await memory.apiKeyById('acme', 'k1')
  t.match(key, { id: 'k1', tenant: 'acme', seats: ['a', 'b'], revokedAt: 9 })
  t.ok(Object.isFrozen(key))
  t.equal(memory.seatByName('acme', 'Viewer'), named, 'at once')
  t.equal(memory.apiKeyById('acme', 'k1'), key)
  t.same(asked, ['name acme Viewer', 'key acme k1'])
})

t.test('what is not there is remembered too', async (t) => {
  const { asked, memory } = setUp()
  t.equal((await memory.seatByName('acme', 'Nobody')).seat, null)
  t.equal(await memory.seatById('acme', 'none'), null)
  t.equal(await memory.apiKeyById('acme', 'none'), null)
  t.equal(memory.seatById('acme', 'none'), null)
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
    memory.hear([change(kind, 'Viewer')])
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
  memory.take([change('seat', 'Viewer')])
  await askAll(memory)
  t.same(asked, ['seat acme Viewer'])
  memory.take(null)
  t.same(memory.sizes, { names: 0, seats: 0, keys: 0, sessions: 0 })
})

t.test('a kind of change that it does not know may be of anything', async (t) => {
  const { memory } = setUp()
  await askAll(memory)
  t.same(memory.sizes, { names: 1, seats: 1, keys: 1, sessions: 1 })
  memory.hear([change('tenant', 'Viewer')])
  t.same(memory.sizes, { names: 0, seats: 0, keys: 0, sessions: 0 })
})

t.test('names and ids are kept apart, whatever is in them', async (t) => {
  const { asked, memory } = setUp()
  await memory.seatByName('a', 'b\0c')
  await memory.seatByName('a', 'b')
  await memory.seatById('a', 'b')
  t.same(asked, ['name a b\0c', 'name a b', 'seat a b'])
})

t.test('says where a decision has its Seats from', async (t) => {
  const { store, memory } = setUp()
  const ask = async () => {
    const trace: Trace = { source: 'memory' }
    await memory.seatByName('acme', 'Viewer', trace)
    await memory.apiKeyById('acme', 'k1', trace)
    return trace.source
  }
  t.equal(await ask(), 'store')
  t.equal(await ask(), 'memory')
  store.source = 'redis'
  store.seq = 2
  memory.hear([change('api-key', 'k1')])
  t.equal(await ask(), 'redis')
})
