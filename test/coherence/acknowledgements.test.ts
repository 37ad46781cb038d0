import t from 'tap'
import { AcknowledgementBarrier } from '../../src/coherence/acknowledgements.ts'
import { listed } from './support.ts'

/** A barrier for the write with number 7. */
function setUp() {
  const calls = { done: 0 }
  const barrier = new AcknowledgementBarrier(7, () => {
    calls.done++
  })
  return { calls, barrier }
}

t.test('without other instances, waits for its own deciders', async (t) => {
  const { calls, barrier } = setUp()
  barrier.listed([])
  t.equal(calls.done, 0)
  barrier.localApplied()
  t.equal(calls.done, 1)
})

t.test('is not done before the list has been read', async (t) => {
  const { calls, barrier } = setUp()
  barrier.localApplied()
  barrier.acknowledged('a')
  t.equal(calls.done, 0)
  barrier.listed([listed('a')])
  t.equal(calls.done, 1, 'an acknowledgement from before the list counts')
})

t.test('waits for each instance on the list', async (t) => {
  const { calls, barrier } = setUp()
  barrier.localApplied()
  barrier.listed([listed('a'), listed('b')])
  barrier.acknowledged('a')
  barrier.acknowledged('another')
  t.equal(calls.done, 0)
  barrier.acknowledged('b')
  t.equal(calls.done, 1)
})

t.test('a beat that has applied the write acknowledges it; an older beat does not', async (t) => {
  const { calls, barrier } = setUp()
  barrier.localApplied()
  barrier.listed([listed('a', 1, 6), listed('b', 1, 7)])
  t.same([...barrier.missing.keys()], ['a'])
  barrier.listed([listed('a', 2, 8), listed('b', 1, 7)])
  t.equal(calls.done, 1)
})

t.test('does not wait for an instance that has left the list or was removed from it', async (t) => {
  const { calls, barrier } = setUp()
  barrier.localApplied()
  barrier.listed([listed('a')])
  barrier.listed([])
  t.equal(calls.done, 1)
})

t.test('an instance that is new in a later list registered after the commit', async (t) => {
  const { calls, barrier } = setUp()
  barrier.localApplied()
  barrier.listed([listed('a')])
  barrier.listed([listed('a'), listed('late')])
  t.same([...barrier.missing.keys()], ['a'])
  barrier.acknowledged('a')
  t.equal(calls.done, 1)
})

t.test('keeps the first beat of each missing instance', async (t) => {
  const { barrier } = setUp()
  t.equal(barrier.missing.size, 0)
  barrier.listed([listed('a', 5)])
  barrier.listed([listed('a', 9)])
  t.same([...barrier.missing], [['a', 5]])
})

t.test('reports a repeated acknowledgement', async (t) => {
  const { barrier } = setUp()
  t.equal(barrier.acknowledged('a'), true)
  t.equal(barrier.acknowledged('a'), false)
})
