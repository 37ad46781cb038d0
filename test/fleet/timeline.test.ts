/** The judge sees what it must see, and forgives what it must forgive. */

import t from 'tap'
import { Timeline } from './timeline.ts'

t.test('before any write, the first state alone', async (t) => {
  t.same([...new Timeline('seat', 'no').allowed(1, 2)], ['no'])
})

t.test('after a write has been answered, its state alone', async (t) => {
  const timeline = new Timeline('seat', 'no')
  timeline.write('yes', 10)(20)
  t.same([...timeline.allowed(21, 22)], ['yes'])
})

t.test('while a write is under way, the state before and after it', async (t) => {
  const timeline = new Timeline('seat', 'no')
  const answered = timeline.write('yes', 10)
  t.same([...timeline.allowed(5, 9)], ['no'], 'ended before it was sent')
  t.same([...timeline.allowed(5, 11)], ['no', 'yes'])
  t.same([...timeline.allowed(15, 16)], ['no', 'yes'])
  answered(20)
  t.same([...timeline.allowed(15, 25)], ['no', 'yes'], 'started before it was answered')
  t.same([...timeline.allowed(20, 25)], ['no', 'yes'], 'started at the very time')
})

t.test('a long request may be decided on any state since the last write before it', async (t) => {
  const timeline = new Timeline('seat', 'a')
  timeline.write('b', 10)(20)
  timeline.write('c', 30)(40)
  timeline.write('d', 50)(60)
  t.same([...timeline.allowed(25, 55)], ['b', 'c', 'd'])
})

t.test('a write without an answer leaves both open for good', async (t) => {
  const timeline = new Timeline('seat', 'no')
  timeline.write('yes', 10)
  t.same([...timeline.allowed(1e6, 2e6)], ['no', 'yes'])
  t.throws(() => timeline.write('no', 20), /under way/)
})
