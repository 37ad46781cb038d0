/** The timeline rejects stale answers and allows all others. */

import t from 'tap'
import { Timeline } from './timeline.ts'

t.test('before any write, only the first state', async (t) => {
  t.same([...new Timeline('seat', 'no').allowed(1, 2)], ['no'])
})

t.test('after an acknowledged write, only its state', async (t) => {
  const timeline = new Timeline('seat', 'no')
  timeline.write('yes', 10)(20)
  t.same([...timeline.allowed(21, 22)], ['yes'])
})

t.test('during a write, the states before and after it', async (t) => {
  const timeline = new Timeline('seat', 'no')
  const answered = timeline.write('yes', 10)
  t.same([...timeline.allowed(5, 9)], ['no'], 'ended before it was sent')
  t.same([...timeline.allowed(5, 11)], ['no', 'yes'])
  t.same([...timeline.allowed(15, 16)], ['no', 'yes'])
  answered(20)
  t.same([...timeline.allowed(15, 25)], ['no', 'yes'], 'started before it was acknowledged')
  t.same([...timeline.allowed(20, 25)], ['no', 'yes'], 'started at the same time')
})

t.test('a long request may be decided on any state since the last write before it', async (t) => {
  const timeline = new Timeline('seat', 'a')
  timeline.write('b', 10)(20)
  timeline.write('c', 30)(40)
  timeline.write('d', 50)(60)
  t.same([...timeline.allowed(25, 55)], ['b', 'c', 'd'])
})

t.test('a write without a response leaves both states possible forever', async (t) => {
  const timeline = new Timeline('seat', 'no')
  timeline.write('yes', 10)
  t.same([...timeline.allowed(1e6, 2e6)], ['no', 'yes'])
  t.throws(() => timeline.write('no', 20), /under way/)
})
