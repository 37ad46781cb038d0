import t from 'tap'
import { inShares, TimeShare, UrgentShare } from '../../../seats-admin/model/time-share.ts'

t.test('awaited work lets the event loop turn when its time is over, and not before', async (t) => {
  let turns = 0
  const count = () => {
    turns++
    if (turns < 10) setImmediate(count)
  }
  setImmediate(count)
  await new TimeShare(60_000).next()
  t.equal(turns, 0)
  const share = new TimeShare(0)
  for (let round = 0; round < 5; round++) await share.next()
  t.ok(turns >= 4 && turns <= 6, `${turns}`)
})

t.test('what begins in one iteration shares its slice', async (t) => {
  const begun: number[] = []
  let iteration = 0
  let isOver = false
  const count = () => {
    iteration++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const steps = function* () {
    // As soon as the first one has used up the slice, the others wait for theirs.
    for (const end = performance.now() + 3; performance.now() < end;);
    yield
    begun.push(iteration)
  }
  await Promise.all(Array.from({ length: 10 }, () => inShares(steps())))
  isOver = true
  t.equal(new Set(begun).size, 10, 'no second step in the same iteration')
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
  const names = taken.map((each) => each.charAt(0))
  t.same(names, [...'abcabcabcabcabc'])
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
  t.ok((await inShares(steps(), new UrgentShare())) <= 11)
  t.ok(Math.max(...(await Promise.all(others))) >= 40)
  isOver = true
})
