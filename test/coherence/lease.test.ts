import t from 'tap'
import type { ChangeListener } from '../../src/coherence/feed-reading.ts'
import { LEASE, Lease } from '../../src/coherence/lease.ts'
import { change, ManualClock, position, reading } from './support.ts'

/** A lease whose renewals the test defines. */
function setUp() {
  const clock = new ManualClock()
  const received: string[] = []
  const listener = (name: string): ChangeListener => ({
    applyAnnouncement: (changes) => received.push(`${name} hears ${changes.map(({ key }) => key)}`),
    applyReading: (changes, head) =>
      received.push(
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
  const lease = new Lease(renewer, [listener('memory'), listener('history')], clock)
  return { clock, received, renewals, renewer, lease }
}

t.test('no lease before the first reading, nor after its time', async (t) => {
  const { clock, lease } = setUp()
  t.equal(lease.live(), false)
  lease.applyReading(reading(clock.now(), null))
  t.equal(lease.live(), true)
  clock.jump(LEASE - 1)
  t.equal(lease.live(), true)
  clock.jump(1)
  t.equal(lease.live(), false)
})

t.test('it counts from before the read, not from the response', async (t) => {
  const { clock, lease } = setUp()
  const noted = clock.now()
  clock.jump(400)
  lease.applyReading(reading(noted, null))
  clock.stepWall(-10_000)
  clock.jump(LEASE - 401)
  t.equal(lease.live(), true)
  clock.jump(1)
  t.equal(lease.live(), false)
})

t.test('each reading extends it', async (t) => {
  const { clock, lease } = setUp()
  lease.applyReading(reading(clock.now(), null))
  clock.jump(LEASE - 1)
  lease.applyReading(reading(clock.now(), position(0, 0)))
  clock.jump(LEASE - 1)
  t.equal(lease.live(), true)
})

t.test('a reading from before the decider joined gives no lease', async (t) => {
  const { lease } = setUp()
  lease.applyReading(reading(Number.NEGATIVE_INFINITY, null, change('a', 1)))
  t.equal(lease.live(), false)
  t.equal(lease.seq, 1)
})

t.test('the wall clock can only shorten it: the machine may have slept', async (t) => {
  const { clock, lease } = setUp()
  lease.applyReading(reading(clock.now(), null))
  clock.stepWall(-10_000)
  clock.jump(LEASE)
  t.equal(lease.live(), false, 'set back, it extends nothing')
  lease.applyReading({ ...reading(clock.now(), position(0, 0)), notedWall: clock.wall() })
  t.equal(lease.live(), true)
  clock.stepWall(LEASE)
  t.equal(lease.live(), false)
})

t.test('a machine that slept between the read and its response gets no lease', async (t) => {
  const { clock, lease } = setUp()
  const noted = reading(clock.now(), null)
  clock.stepWall(LEASE)
  lease.applyReading(noted)
  t.equal(lease.live(), false)
})

t.test('all listeners apply each reading before the lease is live', async (t) => {
  const { clock, received, lease } = setUp()
  lease.applyReading(reading(clock.now(), null, change('a', 1), change('b', 2)))
  lease.applyReading(reading(clock.now(), position(2), change('c', 3)))
  t.same(received, [
    'memory takes a,b up to 2',
    'history takes a,b up to 2',
    'memory takes c up to 3',
    'history takes c up to 3',
  ])
  t.equal(lease.seq, 3)
})

t.test('all counts as changed when a reading does not begin where the last one ended', async (t) => {
  const { clock, received, lease } = setUp()
  lease.applyReading(reading(clock.now(), null, change('a', 1)))
  lease.applyReading(reading(clock.now(), position(2), change('c', 3)))
  lease.applyReading(reading(clock.now(), position(3, 77), change('d', 4)))
  lease.applyReading({ ...reading(clock.now(), position(4)), changes: null })
  t.same(
    received.filter((each) => each.startsWith('memory')),
    [
      'memory takes a up to 1',
      'memory takes all up to 3',
      'memory takes all up to 4',
      'memory takes all up to 4',
    ],
  )
})

t.test('an announcement drops values and gives no lease', async (t) => {
  const { received, renewer, lease } = setUp()
  t.equal(lease.applyAnnouncement([change('a', 1)]), undefined, 'acknowledged at once')
  t.same(received, ['memory hears a', 'history hears a'])
  t.equal(renewer.asked, 0)
  t.equal(lease.live(), false)
  t.equal(lease.seq, 0)
})

t.test('an announcement is applied once each earlier change has arrived', async (t) => {
  const { clock, renewals, renewer, received, lease } = setUp()
  lease.applyReading(reading(clock.now(), null, change('a', 1)))
  received.length = 0
  renewals.push(() => lease.applyReading(reading(clock.now(), position(1), change('b', 2), change('c', 3))))
  const applied = lease.applyAnnouncement([change('c', 3)])
  await applied
  t.equal(renewer.asked, 1)
  t.same(received.slice(0, 3), ['memory hears c', 'history hears c', 'memory takes b,c up to 3'])
  t.equal(lease.applyAnnouncement([change('d', 4)]), undefined)
  t.equal(lease.applyAnnouncement([change('c', 3)]), undefined, 'repeated')
})

t.test('announcements in another order than that of their commits', async (t) => {
  const { clock, renewals, renewer, lease } = setUp()
  lease.applyReading(reading(clock.now(), null, change('a', 1)))
  const [began, begin] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  renewer.renew = async () => {
    began.resolve()
    await begin.promise
    renewals.shift()?.()
  }
  const later = lease.applyAnnouncement([change('c', 3)])
  await began.promise
  t.equal(lease.applyAnnouncement([change('b', 2)]), undefined)
  begin.resolve()
  await t.resolves(Promise.resolve(later), 'without what the reading shows')
})

t.test('an announcement that another one overtook completes both, however slow the store is', async (t) => {
  const { clock, renewer, lease } = setUp()
  lease.applyReading(reading(clock.now(), null, change('a', 1)))
  renewer.renew = () => new Promise(() => {})
  const later = lease.applyAnnouncement([change('c', 3)])
  t.equal(lease.applyAnnouncement([change('b', 2)]), undefined)
  await t.resolves(Promise.resolve(later))
})

t.test('no acknowledgement while earlier changes are missing and the store can not be read', async (t) => {
  const { clock, renewer, lease } = setUp()
  lease.applyReading(reading(clock.now(), null, change('a', 1)))
  await t.rejects(Promise.resolve(lease.applyAnnouncement([change('c', 3)])), /does not show a change/)
  renewer.renew = () => Promise.reject(new Error('the store is gone'))
  await t.rejects(lease.readUpTo(7), { cause: { message: 'the store is gone' } })
})

t.test('renewed: one reading, if it gives a lease', async (t) => {
  const { clock, renewals, renewer, lease } = setUp()
  renewals.push(() => lease.applyReading(reading(clock.now(), null)))
  await lease.renewed()
  t.equal(renewer.asked, 1)
  t.equal(lease.live(), true)
})

t.test('renewed: a second one, if the first took too long', async (t) => {
  const { clock, renewals, renewer, lease } = setUp()
  renewals.push(() => lease.applyReading(reading(clock.now() - LEASE, null)))
  renewals.push(() => lease.applyReading(reading(clock.now(), position(0, 0))))
  await lease.renewed()
  t.equal(renewer.asked, 2)
})

t.test(
  'renewed: a reading that began after the call is enough, and gives no lease if it was slow',
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
    // The next request can't use it: it waits for a reading of its own.
    renewals.push(() => {}, slow)
    clock.jump(1)
    await lease.renewed()
    t.equal(renewer.asked, 3)
  },
)

t.test('renewed: a reading that began before the call and gives no lease does not count', async (t) => {
  const { clock, renewals, lease } = setUp()
  clock.jump(2 * LEASE)
  renewals.push(() => lease.applyReading(reading(clock.now() - LEASE, null)))
  renewals.push(() => lease.applyReading(reading(clock.now() - LEASE, position(0, 0))))
  await t.rejects(lease.renewed(), /too slowly/)
})

t.test('a reading of an unlisted instance serves the requests before it, and gives no lease', async (t) => {
  const { clock, renewals, lease } = setUp()
  renewals.push(() => lease.applyReading({ ...reading(clock.now(), null), listed: false }))
  await lease.renewed()
  t.equal(lease.live(), false)
})

t.test('renewed: rejects when the store is unavailable', async (t) => {
  const { renewals, lease } = setUp()
  renewals.push(() => {
    throw new Error('down')
  })
  await t.rejects(lease.renewed(), { message: 'down' })
})

t.test('after its end, no reading makes it live', async (t) => {
  const { clock, lease } = setUp()
  lease.applyReading(reading(clock.now(), null))
  lease.end()
  t.equal(lease.live(), false)
})
