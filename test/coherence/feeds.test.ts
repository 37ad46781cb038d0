import t from 'tap'
import { SingleInstanceFeed, RegisteredFeed } from '../../src/coherence/feeds.ts'
import { HandClock, HandStore, position, settled } from './support.ts'

function setUp() {
  const clock = new HandClock()
  const store = new HandStore()
  return { clock, store, feed: new RegisteredFeed(store, clock, 'i', 'host 1') }
}

t.test('plain: what the store says, from when it was asked', async (t) => {
  const store = new HandStore()
  store.commit('a')
  const { noted, head, changes } = await new SingleInstanceFeed(store).read(null, 7)
  t.equal(noted, 7)
  t.same(head, position(1))
  t.equal(changes?.length, 1)
  t.same(store.asked, ['read'])
})

t.test('registers first, for good, and only then reads', async (t) => {
  const { store, feed } = setUp()
  const release = store.hold()
  const answer = feed.read(null, 0, 0)
  await settled()
  t.same(store.asked, ['register i'], 'and no more before that is done')
  release()
  await answer
  t.same(store.asked, ['register i', 'follow i 1'])
})

t.test('a reading counts from after registering', async (t) => {
  const { clock, store, feed } = setUp()
  const release = store.hold()
  const answer = feed.read(null, clock.now(), 0)
  clock.jump(300)
  release()
  t.equal((await answer).noted, 300)
})

t.test('on the list, one statement is a reading and a sign of life', async (t) => {
  const { clock, store, feed } = setUp()
  await feed.read(null, 0, 0)
  store.commit('a')
  clock.jump(250)
  const { noted, head } = await feed.read(position(0, 0), 240, 0)
  t.equal(noted, 240, 'from before the question')
  t.same(head, position(1))
  await feed.read(head, 250, 1)
  t.same(store.asked, ['register i', 'follow i 1', 'follow i 2', 'follow i 3'])
  t.same(store.rows.get('i'), { id: 'i', beat: 3, applied: 1 })
})

t.test('taken off the list, it registers anew, and reads anew', async (t) => {
  const { clock, store, feed } = setUp()
  await feed.read(null, 0, 0)
  store.rows.clear()
  clock.jump(2000)
  const { noted } = await feed.read(position(0, 0), 1500, 0)
  t.equal(noted, 2000, 'what it read without being on the list is worth nothing')
  t.same(store.asked.slice(2), ['follow i 2', 'register i', 'follow i 3'])
})

t.test('taken off again at once, its reading gives no lease, and it begins again', async (t) => {
  const { store, feed } = setUp()
  const register = store.register.bind(store)
  store.register = async (id, name) => {
    await register(id, name)
    store.rows.delete(id)
  }
  t.match(await feed.read(null, 0, 0), { listed: false })
  store.register = register
  t.match(await feed.read(null, 0, 0), { listed: true })
  t.same(store.asked, ['register i', 'follow i 1', 'register i', 'follow i 2'])
})

t.test('no beat is ever used twice, whatever became of it', async (t) => {
  const { store, feed } = setUp()
  await feed.read(null, 0, 0)
  store.isDown = true
  await t.rejects(feed.read(null, 0, 0), { message: 'down' })
  await t.rejects(feed.read(null, 0, 0), { message: 'down' })
  store.isDown = false
  await feed.read(null, 0, 0)
  t.same(store.asked, ['register i', 'follow i 1', 'follow i 2', 'follow i 3', 'follow i 4'])
})

t.test('where registering fails, the next reading registers', async (t) => {
  const { store, feed } = setUp()
  store.isDown = true
  await t.rejects(feed.read(null, 0, 0), { message: 'down' })
  store.isDown = false
  await feed.read(null, 0, 0)
  t.same(store.asked, ['register i', 'register i', 'follow i 1'])
})
