/**
 * A cached document of the provider: one read for concurrent callers, rate limits after failures, and a maximum age.
 */

import t from 'tap'
import { StaleWhileRevalidate } from '../../src/oidc/provider/stale-while-revalidate.ts'

const TIMES = { fresh: 100, stale: 1000, backoff: 10 }

function reading() {
  const at = { now: 0, reads: 0, fail: false }
  const document = new StaleWhileRevalidate(
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
  return { at, document }
}

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

t.test('concurrent callers share one read', async (t) => {
  const { at, document } = reading()
  t.same(await Promise.all(Array.from({ length: 20 }, () => document.get())), Array(20).fill(1))
  at.now = 99
  t.equal(await document.get(), 1)
  t.equal(at.reads, 1)
})

t.test('no longer fresh: the old value is returned while a read runs in the background', async (t) => {
  const { at, document } = reading()
  await document.get()
  at.now = 100
  t.equal(await document.get(), 1, 'the caller does not wait')
  await settled()
  t.equal(await document.get(), 2)
  t.equal(at.reads, 2)
})

t.test('stale: callers need a new read', async (t) => {
  const { at, document } = reading()
  await document.get()
  at.fail = true
  at.now = 999
  t.equal(await document.get(), 1, 'until it is stale, the old value survives a failed read')
  await settled()
  at.now = 2000
  await t.rejects(document.get(), { message: 'failure 3' })
  at.now = 2010
  at.fail = false
  t.equal(await document.get(), 4)
})

t.test('no read during the backoff after a failure', async (t) => {
  const { at, document } = reading()
  at.fail = true
  await t.rejects(document.get(), { message: 'failure 1' })
  for (at.now = 1; at.now < 10; at.now++) await t.rejects(document.get(), { message: 'failure 1' })
  t.equal(at.reads, 1)
  t.ok(document.failure)
  at.fail = false
  t.equal(await document.get(), 2)
  t.equal(document.failure, null)
})

t.test('the age counts from the start of the read', async (t) => {
  const { at, document } = reading()
  const pending = document.get()
  at.now = 100
  await pending
  t.equal(document.startedAt, 0)
  await document.get()
  await settled()
  t.equal(at.reads, 2, 'the value was no longer fresh when it arrived')
})

t.test('a caller that waits for a pending read starts none', async (t) => {
  const { at, document } = reading()
  await document.settled()
  t.equal(at.reads, 0)
  const pending = document.get()
  await document.settled()
  t.equal(at.reads, 1)
  await pending
  at.fail = true
  document.revalidate().catch(() => {})
  await t.rejects(document.settled(), { message: 'failure 2' })
})
