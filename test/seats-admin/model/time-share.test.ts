import t from 'tap'
import { inShares, TimeShare } from '../../../seats-admin/model/time-share.ts'

t.test('awaited work lets the event loop turn when its time is over, and not before', async (t) => {
  let turns = 0
  const count = () => void turns++
  setImmediate(count)
  await new TimeShare(60_000).next()
  t.equal(turns, 0)
  const share = new TimeShare(0)
  await share.next()
  t.equal(turns, 1)
  setImmediate(count)
  await share.next()
  t.equal(turns, 2)
})

t.test('the work of several requests takes turns, one slice in an iteration of the event loop', async (t) => {
  const taken: string[] = []
  let iteration = 0
  let isOver = false
  const count = () => {
    iteration++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const steps = function* (name: string) {
    for (let step = 0; step < 5; step++) {
      taken.push(`${name}${iteration}`)
      yield
    }
    return name
  }
  const all = ['a', 'b', 'c'].map((name) => inShares(steps(name), new TimeShare(0)))
  t.same(await Promise.all(all), ['a', 'b', 'c'])
  isOver = true
  const later = taken.filter((each) => !each.endsWith('0'))
  const iterations = later.map((each) => Number(each.slice(1)))
  t.equal(new Set(iterations).size, iterations.length, 'no two slices in one iteration')
  t.same(
    later.slice(0, 6).map(([name]) => name),
    ['a', 'b', 'c', 'a', 'b', 'c'],
  )
})

t.test('a step that fails ends the work, and not the turns of others', async (t) => {
  const failing = (function* () {
    yield
    throw new Error('broken')
  })()
  const other = (function* () {
    yield
    yield
    return 'done'
  })()
  const results = await Promise.allSettled([failing, other].map((steps) => inShares(steps, new TimeShare(0))))
  t.match(results, [{ reason: { message: 'broken' } }, { value: 'done' }])
})

t.test('urgent work has a slice in each iteration, whoever takes turns', async (t) => {
  let iteration = 0
  let isOver = false
  const count = () => {
    iteration++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const steps = function* () {
    for (let step = 0; step < 10; step++) yield
    return iteration
  }
  const others = Array.from({ length: 5 }, () => inShares(steps(), new TimeShare(0)))
  t.ok((await inShares(steps(), new TimeShare(0, true))) <= 11)
  t.ok(Math.max(...(await Promise.all(others))) >= 40)
  isOver = true
})
