import t from 'tap'
import { type FeedChange, LEASE, Lease } from '../../src/coherence/lease.ts'

/** A feed and a clock in the test's hand. */
function setUp() {
  const world = {
    now: 0,
    seq: 0,
    changes: [] as FeedChange[] | null,
    down: false,
    /** Milliseconds that a reading takes. */
    takes: 0,
    readings: [] as number[],
    forgotten: [] as string[],
    states: [] as string[],
  }
  const feed = {
    changesSince: async (seq: number) => {
      world.readings.push(seq)
      if (world.down) throw new Error('down')
      const answer = { seq: world.seq, changes: world.changes }
      world.now += world.takes
      return answer
    },
  }
  const memory = {
    forget: (change: FeedChange, seq: number) => world.forgotten.push(`${change.key}@${seq}`),
    forgetAll: () => world.forgotten.push('all'),
  }
  const lease = new Lease(
    feed,
    memory,
    (state) => world.states.push(state),
    () => world.now,
  )
  return { world, lease }
}

const change = (key: string): FeedChange => ({ tenant: 'acme', kind: 'seat', key })

t.test('no lease before the first reading, and none after its time', async (t) => {
  const { world, lease } = setUp()
  t.equal(lease.live(), false)
  await lease.renewed()
  t.equal(lease.live(), true)
  world.now = LEASE - 1
  t.equal(lease.live(), true)
  world.now = LEASE
  t.equal(lease.live(), false)
})

t.test('the lease counts from before the reading, not from its answer', async (t) => {
  const { world, lease } = setUp()
  world.takes = 400
  await lease.renewed()
  world.now = LEASE
  t.equal(lease.live(), false)
})

t.test('a store too slow for any lease is as good as none', async (t) => {
  const { world, lease } = setUp()
  world.takes = LEASE
  await t.rejects(lease.renewed(), /too slowly/)
})

t.test('applies what changed, before the lease is good', async (t) => {
  const { world, lease } = setUp()
  await lease.renewed()
  world.seq = 5
  world.changes = [change('a'), change('b')]
  await lease.renewed()
  t.same(world.forgotten, ['a@5', 'b@5'])
  t.equal(lease.seq, 5)
  t.equal(world.readings.at(-1), 0)
  await lease.renewed()
  t.equal(world.readings.at(-1), 5)
})

t.test('forgets everything when changes are missing, or the store is behind us', async (t) => {
  const { world, lease } = setUp()
  world.seq = 9
  world.changes = null
  await lease.renewed()
  world.seq = 3
  world.changes = []
  await lease.renewed()
  t.same(world.forgotten, ['all', 'all'])
  t.equal(lease.seq, 3)
})

t.test('a write of this process is forgotten at once', async (t) => {
  const { world, lease } = setUp()
  lease.committed(4, [change('a')])
  t.same(world.forgotten, ['a@4'])
})

t.test('one reading serves all who wait', async (t) => {
  const { world, lease } = setUp()
  await Promise.all([lease.renewed(), lease.renewed(), lease.renewed()])
  t.equal(world.readings.length, 1)
})

t.test('says once that the store is gone and once that it is back', async (t) => {
  const { world, lease } = setUp()
  await lease.renewed()
  world.down = true
  await t.rejects(lease.renewed(), { message: 'down' })
  t.equal(lease.live(), true, 'what was read is still good')
  world.now = LEASE
  await t.rejects(lease.renewed(), { message: 'down' })
  await t.rejects(lease.renewed(), { message: 'down' })
  world.down = false
  await lease.renewed()
  t.same(world.states, ['live', 'lost', 'live'])
})

t.test('renews by itself until stopped', async (t) => {
  const { world, lease } = setUp()
  t.teardown(() => lease.stop())
  await lease.start()
  while (world.readings.length < 3) await new Promise((resolve) => setTimeout(resolve, 20))
  lease.stop()
  t.equal(lease.live(), false)
})
