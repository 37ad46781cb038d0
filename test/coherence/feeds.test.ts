import t from 'tap'
import { singleInstanceFeed, registeredFeed } from '../../src/coherence/feeds.ts'
import { ManualClock, FakeStore, position, settled } from './support.ts'

function setUp() {
  const clock = new ManualClock()
  const store = new FakeStore()
  return { clock, store, feed: registeredFeed(store, clock, { id: 'i', name: 'host 1' }) }
}

t.test('single instance: a reading counts from when the store was asked', async (t) => {
  const store = new FakeStore()
  store.commit('a')
  const { noted, head, changes } = await singleInstanceFeed(store).read(null, 7, 0)
  t.equal(noted, 7)
  t.same(head, position(1))
  t.equal(changes?.length, 1)
  t.same(store.calls, ['read'])
})

t.test('registers durably before it reads', async (t) => {
  const { store, feed } = setUp()
  const release = store.hold()
  const answer = feed.read(null, 0, 0)
  await settled()
  t.same(store.calls, ['register i'], 'no read before that')
  release()
  await answer
  t.same(store.calls, ['register i', 'follow i 1'])
})

t.test('the first reading counts from after the registration', async (t) => {
  const { clock, store, feed } = setUp()
  const release = store.hold()
  const answer = feed.read(null, clock.now(), 0)
  clock.jump(300)
  release()
  t.equal((await answer).noted, 300)
})

t.test('on the list, one statement is both a reading and a sign of life', async (t) => {
  const { clock, store, feed } = setUp()
  await feed.read(null, 0, 0)
  store.commit('a')
  clock.jump(250)
  const { noted, head } = await feed.read(position(0, 0), 240, 0)
  t.equal(noted, 240, 'noted before the read')
  t.same(head, position(1))
  await feed.read(head, 250, 1)
  t.same(store.calls, ['register i', 'follow i 1', 'follow i 2', 'follow i 3'])
  t.match(store.rows.get('i'), { id: 'i', beat: 3, applied: 1 })
})

t.test('removed from the list, it registers and reads again', async (t) => {
  const { clock, store, feed } = setUp()
  await feed.read(null, 0, 0)
  store.rows.clear()
  clock.jump(2000)
  const { noted } = await feed.read(position(0, 0), 1500, 0)
  t.equal(noted, 2000, 'a read without a place on the list does not count')
  t.same(store.calls.slice(2), ['follow i 2', 'register i', 'follow i 3'])
})

t.test('removed again at once, its reading gives no lease; the next one registers again', async (t) => {
  const { store, feed } = setUp()
  const register = store.register.bind(store)
  store.register = async (id, name) => {
    await register(id, name)
    store.rows.delete(id)
  }
  t.match(await feed.read(null, 0, 0), { listed: false })
  store.register = register
  t.match(await feed.read(null, 0, 0), { listed: true })
  t.same(store.calls, ['register i', 'follow i 1', 'register i', 'follow i 2'])
})

t.test('no beat is used twice, not even after failures', async (t) => {
  const { store, feed } = setUp()
  await feed.read(null, 0, 0)
  store.isDown = true
  await t.rejects(feed.read(null, 0, 0), { message: 'down' })
  await t.rejects(feed.read(null, 0, 0), { message: 'down' })
  store.isDown = false
  await feed.read(null, 0, 0)
  t.same(store.calls, ['register i', 'follow i 1', 'follow i 2', 'follow i 3', 'follow i 4'])
})

t.test('after a failed registration, the next reading registers', async (t) => {
  const { store, feed } = setUp()
  store.isDown = true
  await t.rejects(feed.read(null, 0, 0), { message: 'down' })
  store.isDown = false
  await feed.read(null, 0, 0)
  t.same(store.calls, ['register i', 'register i', 'follow i 1'])
})

t.test('each sign of life carries the hash of the tables and the address as they are then', async (t) => {
  const store = new FakeStore()
  let shown = { config: 'one', url: null as string | null }
  const feed = registeredFeed(store, new ManualClock(), { id: 'i', name: 'host 1', shown: () => shown })
  await feed.read(null, 0, 0)
  t.same(store.shown, shown)
  shown = { config: 'two', url: 'http://10.0.0.7:8080' }
  await feed.read(null, 0, 0)
  t.same(store.shown, shown)
})

t.test('the list has secrets before the sign of life that comes after their change', async (t) => {
  const store = new FakeStore()
  let secrets = { acme: ['000000000001'] }
  const feed = registeredFeed(store, new ManualClock(), { id: 'i', name: 'host 1', secrets: () => secrets })
  for (let beats = 0; beats < 2; beats++) await feed.read(null, 0, 0)
  t.same(store.calls, ['register i', 'secrets i', 'follow i 1', 'follow i 2'], 'once')
  secrets = { acme: ['000000000002'] }
  store.isDown = true
  await t.rejects(feed.read(null, 0, 0), { message: 'down' })
  store.isDown = false
  await feed.read(null, 0, 0)
  t.same(store.calls.slice(4), ['secrets i', 'secrets i', 'follow i 3'], 'again after a failure')
  t.same(store.secrets, secrets)
  store.rows.delete('i')
  await feed.read(null, 0, 0)
  t.same(
    store.calls.slice(7),
    ['follow i 4', 'register i', 'secrets i', 'follow i 5'],
    'again in a new entry',
  )
})
