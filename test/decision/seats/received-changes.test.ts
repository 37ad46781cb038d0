import fc from 'fast-check'
import t from 'tap'
import { type ReadRecord, ReceivedChanges, type Wait } from '../../../src/decision/seats/received-changes.ts'

const KEYS = ['a', 'b', 'c']

const record = (key: string, asOf: number, since: number): ReadRecord => ({
  ...{ kind: 'seat', tenant: 'acme', key, asOf, since },
})

t.test('a change concerns a record of its kind, tenant and key that was read before it', async (t) => {
  const received = new ReceivedChanges()
  const wait = received.wait()
  received.changed('seat', 'acme', 'a', 5)
  const concerns = (read: ReadRecord) => received.concerns(wait, [read])
  t.equal(concerns(record('a', 4, 0)), true)
  t.equal(concerns(record('a', 5, 0)), false, 'it was read with the change')
  t.equal(concerns(record('a', 4, received.next)), false, 'it was read after the change arrived')
  t.equal(concerns(record('b', 4, 0)), false)
  t.equal(concerns({ ...record('a', 4, 0), tenant: 'globex' }), false)
  t.equal(concerns({ ...record('a', 4, 0), kind: 'api-key' }), false)
  received.allChanged()
  t.equal(concerns(record('b', 4, 0)), true)
  received.end(wait)
})

t.test(
  'a change of any record of a kind concerns those of its tenant that were read before it',
  async (t) => {
    const received = new ReceivedChanges()
    const wait = received.wait()
    received.changedWide('seat', 'acme', 5)
    const concerns = (read: ReadRecord) => received.concerns(wait, [read])
    for (const key of ['a', 'b', 'acme', '']) t.equal(concerns(record(key, 4, 0)), true)
    t.equal(concerns(record('a', 5, 0)), false, 'it was read with the change')
    t.equal(concerns(record('a', 4, received.next)), false, 'it was read after the change arrived')
    t.equal(concerns({ ...record('acme', 4, 0), tenant: 'globex' }), false)
    t.equal(concerns({ ...record('a', 4, 0), kind: 'api-key' }), false)
    received.unchanged(6)
    t.equal(concerns(record('a', 5, 0)), false)
    received.end(wait)
  },
)

t.test('waits of any length, in any order: as if every change were kept', async () => {
  const step = fc.oneof(
    fc.constant({ do: 'change' as const, key: null }),
    fc.record({ do: fc.constant('change' as const), key: fc.constantFrom(...KEYS) }),
    fc.constant({ do: 'wait' as const }),
    fc.record({ do: fc.constant('end' as const), at: fc.nat() }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const received = new ReceivedChanges()
      const all: { key: string | null; seq: number }[] = []
      const waits: { wait: Wait; asOf: number; since: number }[] = []
      for (const it of steps) {
        if (it.do === 'wait') waits.push({ wait: received.wait(), asOf: all.length, since: received.next })
        else if (it.do === 'change') {
          all.push({ key: it.key, seq: all.length + 1 })
          if (it.key === null) received.changedWide('seat', 'acme', all.length)
          else received.changed('seat', 'acme', it.key, all.length)
        } else {
          const [ended] = waits.splice(it.at % Math.max(1, waits.length), 1)
          if (ended !== undefined) received.end(ended.wait)
        }
        for (const { wait, asOf, since } of waits)
          for (const key of KEYS) {
            const expected = all.some((change) => (change.key ?? key) === key && change.seq > asOf)
            if (received.concerns(wait, [record(key, asOf, since)]) !== expected) return false
          }
      }
      return true
    }),
  )
})

t.test(
  'beyond a bound, a decision that waits for long counts as concerned, and a later one does not',
  async (t) => {
    const received = new ReceivedChanges()
    const long = received.wait()
    for (let seq = 1; seq <= 150_000; seq++) received.changed('seat', 'other', `k${seq}`, seq)
    const late = received.wait()
    received.changed('seat', 'other', 'k', 150_001)
    t.equal(received.concerns(long, [record('a', 0, 0)]), true)
    t.equal(received.concerns(late, [record('a', 150_000, late.since)]), false)
    received.end(long)
    t.equal(received.concerns(late, [record('a', 150_000, late.since)]), false)
    received.end(late)
    t.equal(received.waiting, 0)
  },
)
