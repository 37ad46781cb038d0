/** A document of the provider's: read once for all who ask, not too often, and not believed for too long. */

import t from 'tap'
import { StaleWhileRevalidate } from '../../src/oidc/provider/stale-while-revalidate.ts'

const TIMES = { fresh: 100, stale: 1000, backoff: 10 }

function reading() {
  const at = { now: 0, reads: 0, fail: false }
  const kept = new StaleWhileRevalidate(
    async () => {
      at.reads++
      const fails = at.fail
      await new Promise((resolve) => setImmediate(resolve))
      if (fails) throw new Error(`failure ${at.reads}`)
      return at.reads
    },
    TIMES,
    () => at.now,
  )
  return { at, kept }
}

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

t.test('one reading for all', async (t) => {
  const { at, kept } = reading()
  t.same(await Promise.all(Array.from({ length: 20 }, () => kept.get())), Array(20).fill(1))
  at.now = 99
  t.equal(await kept.get(), 1)
  t.equal(at.reads, 1)
})

t.test('no longer fresh: serves, and is read again behind', async (t) => {
  const { at, kept } = reading()
  await kept.get()
  at.now = 100
  t.equal(await kept.get(), 1, 'nobody waits')
  await settled()
  t.equal(await kept.get(), 2)
  t.equal(at.reads, 2)
})

t.test('stale: nothing without a new reading', async (t) => {
  const { at, kept } = reading()
  await kept.get()
  at.fail = true
  at.now = 999
  t.equal(await kept.get(), 1, 'until then it serves through a failure')
  await settled()
  at.now = 2000
  await t.rejects(kept.get(), { message: 'failure 3' })
  at.now = 2010
  at.fail = false
  t.equal(await kept.get(), 4)
})

t.test('after a failure nobody asks for a while', async (t) => {
  const { at, kept } = reading()
  at.fail = true
  await t.rejects(kept.get(), { message: 'failure 1' })
  for (at.now = 1; at.now < 10; at.now++) await t.rejects(kept.get(), { message: 'failure 1' })
  t.equal(at.reads, 1)
  t.ok(kept.failure)
  at.fail = false
  t.equal(await kept.get(), 2)
  t.equal(kept.failure, null)
})

t.test('its age counts from the beginning of the reading', async (t) => {
  const { at, kept } = reading()
  const pending = kept.get()
  at.now = 100
  await pending
  t.equal(kept.startedAt, 0)
  await kept.get()
  await settled()
  t.equal(at.reads, 2, 'it was not fresh any more when it came')
})

t.test('who waits for the reading under way begins none', async (t) => {
  const { at, kept } = reading()
  await kept.settled()
  t.equal(at.reads, 0)
  const pending = kept.get()
  await kept.settled()
  t.equal(at.reads, 1)
  await pending
  at.fail = true
  kept.revalidate().catch(() => {})
  await t.rejects(kept.settled(), { message: 'failure 2' })
})
