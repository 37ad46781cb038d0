import t from 'tap'
import { InFlight } from '../../src/lib/in-flight.ts'

const item = () => ({ index: -1 })

t.test('an item that has left the set takes no other item with it', async (t) => {
  const set = new InFlight<{ index: number }>()
  const [first, second] = [item(), item()]
  set.add(first)
  set.add(second)
  set.remove(first)
  set.remove(first)
  set.remove(item())
  t.same([...set], [second])
  t.equal(set.has(second), true)
  t.equal(set.has(first), false)
})

t.test('items leave in any order', async (t) => {
  const set = new InFlight<{ index: number }>()
  const items = Array.from({ length: 8 }, item)
  for (const each of items) set.add(each)
  for (const at of [3, 7, 0]) set.remove(items[at] ?? item())
  const left = items.filter((_, at) => ![3, 7, 0].includes(at))
  t.equal(set.size, left.length)
  t.ok(left.every((each) => set.has(each)))
  t.same(new Set(set), new Set(left))
})
