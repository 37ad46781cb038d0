import t from 'tap'
import { AcknowledgementBarrier } from '../../src/coherence/acknowledgements.ts'

/** For a write that is number 7. */
function setUp() {
  const seen = { done: 0 }
  const awaited = new AcknowledgementBarrier(7, () => {
    seen.done++
  })
  return { seen, awaited }
}

const other = (id: string, beat = 1, applied = 0) => ({ id, beat, applied })

t.test('alone, it waits for its own deciders', async (t) => {
  const { seen, awaited } = setUp()
  awaited.listed([])
  t.equal(seen.done, 0)
  awaited.localApplied()
  t.equal(seen.done, 1)
})

t.test('nobody is done before the list has been read', async (t) => {
  const { seen, awaited } = setUp()
  awaited.localApplied()
  awaited.acknowledged('a')
  t.equal(seen.done, 0)
  awaited.listed([other('a')])
  t.equal(seen.done, 1, 'who acknowledged before that has acknowledged')
})

t.test('waits for each one on the list', async (t) => {
  const { seen, awaited } = setUp()
  awaited.localApplied()
  awaited.listed([other('a'), other('b')])
  awaited.acknowledged('a')
  awaited.acknowledged('somebody else')
  t.equal(seen.done, 0)
  awaited.acknowledged('b')
  t.equal(seen.done, 1)
})

t.test('a beat that has applied the write is an acknowledgement; an older one is not', async (t) => {
  const { seen, awaited } = setUp()
  awaited.localApplied()
  awaited.listed([other('a', 1, 6), other('b', 1, 7)])
  t.same([...awaited.missing.keys()], ['a'])
  awaited.listed([other('a', 2, 8), other('b', 1, 7)])
  t.equal(seen.done, 1)
})

t.test('who has left the list, or was taken off it, is waited for no more', async (t) => {
  const { seen, awaited } = setUp()
  awaited.localApplied()
  awaited.listed([other('a')])
  awaited.listed([])
  t.equal(seen.done, 1)
})

t.test('who comes onto the list after the first look registered after the commit', async (t) => {
  const { seen, awaited } = setUp()
  awaited.localApplied()
  awaited.listed([other('a')])
  awaited.listed([other('a'), other('late')])
  t.same([...awaited.missing.keys()], ['a'])
  awaited.acknowledged('a')
  t.equal(seen.done, 1)
})

t.test('the missing keep the beat that was seen first', async (t) => {
  const { awaited } = setUp()
  t.equal(awaited.missing.size, 0)
  awaited.listed([other('a', 5)])
  awaited.listed([other('a', 9)])
  t.same([...awaited.missing], [['a', 5]])
})

t.test('an acknowledgement is news once', async (t) => {
  const { awaited } = setUp()
  t.equal(awaited.acknowledged('a'), true)
  t.equal(awaited.acknowledged('a'), false)
})
