import t from 'tap'
import type { ChangeListener } from '../../src/coherence/feed-reading.ts'
import { LEASE, Lease } from '../../src/coherence/lease.ts'
import { change, HandClock, position, reading } from './support.ts'

/** A lease, whose renewals are what the test makes of them. */
function setUp() {
  const clock = new HandClock()
  const told: string[] = []
  const hearer = (name: string): ChangeListener => ({
    applyAnnouncement: (changes) => told.push(`${name} hears ${changes.map(({ key }) => key)}`),
    applyReading: (changes, head) =>
      told.push(
        `${name} takes ${changes === null ? 'all' : changes.map(({ key }) => key)} up to ${head.seq}`,
      ),
  })
  const renewals: (() => void)[] = []
  const renewer = {
    asked: 0,
    renew: async () => {
      renewer.asked++
      renewals.shift()?.()
    },
  }
  const lease = new Lease(renewer, [hearer('memory'), hearer('history')], clock)
  return { clock, told, renewals, renewer, lease }
}

t.test('no lease before the first reading, and none after its time', async (t) => {
  const { clock, lease } = setUp()
  t.equal(lease.live(), false)
  lease.applyReading(reading(clock.now(), null))
  t.equal(lease.live(), true)
  clock.jump(LEASE - 1)
  t.equal(lease.live(), true)
  clock.jump(1)
  t.equal(lease.live(), false)
})

t.test('it counts from before the store was asked, not from its answer', async (t) => {
  const { clock, lease } = setUp()
  const noted = clock.now()
  clock.jump(400)
  lease.applyReading(reading(noted, null))
  clock.setWall(-10_000)
  clock.jump(LEASE - 401)
  t.equal(lease.live(), true)
  clock.jump(1)
  t.equal(lease.live(), false)
})

t.test('each reading prolongs it', async (t) => {
  const { clock, lease } = setUp()
  lease.applyReading(reading(clock.now(), null))
  clock.jump(LEASE - 1)
  lease.applyReading(reading(clock.now(), position(0, 0)))
  clock.jump(LEASE - 1)
  t.equal(lease.live(), true)
})

t.test('a reading from before it was told of changes gives none', async (t) => {
  const { lease } = setUp()
  lease.applyReading(reading(Number.NEGATIVE_INFINITY, null, change('a', 1)))
  t.equal(lease.live(), false)
  t.equal(lease.seq, 1)
})

t.test('the wall clock can only end it: the machine may have slept', async (t) => {
  const { clock, lease } = setUp()
  lease.applyReading(reading(clock.now(), null))
  clock.setWall(-10_000)
  clock.jump(LEASE)
  t.equal(lease.live(), false, 'set back, it prolongs nothing')
  lease.applyReading(reading(clock.now(), position(0, 0)))
  t.equal(lease.live(), true)
  clock.setWall(LEASE)
  t.equal(lease.live(), false)
})

t.test('all who must hear of changes take each reading, before it is live', async (t) => {
  const { clock, told, lease } = setUp()
  lease.applyReading(reading(clock.now(), null, change('a', 1), change('b', 2)))
  lease.applyReading(reading(clock.now(), position(2), change('c', 3)))
  t.same(told, [
    'memory takes a,b up to 2',
    'history takes a,b up to 2',
    'memory takes c up to 3',
    'history takes c up to 3',
  ])
  t.equal(lease.seq, 3)
})

t.test('anything may have changed where a reading does not begin where the last one ended', async (t) => {
  const { clock, told, lease } = setUp()
  lease.applyReading(reading(clock.now(), null, change('a', 1)))
  lease.applyReading(reading(clock.now(), position(2), change('c', 3)))
  lease.applyReading(reading(clock.now(), position(3, 77), change('d', 4)))
  lease.applyReading({ ...reading(clock.now(), position(4)), changes: null })
  t.same(
    told.filter((each) => each.startsWith('memory')),
    [
      'memory takes a up to 1',
      'memory takes all up to 3',
      'memory takes all up to 4',
      'memory takes all up to 4',
    ],
  )
})

t.test('a message makes forget, and gives no right to anything', async (t) => {
  const { told, lease } = setUp()
  lease.applyAnnouncement([change('a', 5)])
  t.same(told, ['memory hears a', 'history hears a'])
  t.equal(lease.live(), false)
  t.equal(lease.seq, 0)
})

t.test('renewed: one reading, where that gives a lease', async (t) => {
  const { clock, renewals, renewer, lease } = setUp()
  renewals.push(() => lease.applyReading(reading(clock.now(), null)))
  await lease.renewed()
  t.equal(renewer.asked, 1)
  t.equal(lease.live(), true)
})

t.test('renewed: another one, where the first was under way for too long', async (t) => {
  const { clock, renewals, renewer, lease } = setUp()
  renewals.push(() => lease.applyReading(reading(clock.now() - LEASE, null)))
  renewals.push(() => lease.applyReading(reading(clock.now(), position(0, 0))))
  await lease.renewed()
  t.equal(renewer.asked, 2)
})

t.test(
  'renewed: a reading that began after the call is enough, and gives no lease when it took long',
  async (t) => {
    const { clock, renewals, renewer, lease } = setUp()
    const slow = () => {
      const noted = clock.now()
      clock.jump(LEASE + 500)
      lease.applyReading(reading(noted, position(0, 0)))
    }
    renewals.push(slow)
    await lease.renewed()
    t.equal(renewer.asked, 1)
    t.equal(lease.live(), false)
    // The next request can't use it: it waits for one of its own.
    renewals.push(() => {}, slow)
    clock.jump(1)
    await lease.renewed()
    t.equal(renewer.asked, 3)
  },
)

t.test(
  'renewed: a reading that began before the call, and outlived no lease, is as good as none',
  async (t) => {
    const { clock, renewals, lease } = setUp()
    clock.jump(2 * LEASE)
    renewals.push(() => lease.applyReading(reading(clock.now() - LEASE, null)))
    renewals.push(() => lease.applyReading(reading(clock.now() - LEASE, position(0, 0))))
    await t.rejects(lease.renewed(), /too slowly/)
  },
)

t.test(
  'a reading without a place on the list is good for requests from before it, and gives no lease',
  async (t) => {
    const { clock, renewals, lease } = setUp()
    renewals.push(() => lease.applyReading({ ...reading(clock.now(), null), listed: false }))
    await lease.renewed()
    t.equal(lease.live(), false)
  },
)

t.test('renewed: rejects as the store does', async (t) => {
  const { renewals, lease } = setUp()
  renewals.push(() => {
    throw new Error('down')
  })
  await t.rejects(lease.renewed(), { message: 'down' })
})

t.test('ended, it is not live, whatever was read', async (t) => {
  const { clock, lease } = setUp()
  lease.applyReading(reading(clock.now(), null))
  lease.end()
  t.equal(lease.live(), false)
})
