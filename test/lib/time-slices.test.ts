/** Long work leaves time for others. */

import { performance } from 'node:perf_hooks'
import t from 'tap'
import { inSlices } from '../../src/lib/time-slices.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal

/** @param ms of each step */
function* busy(steps: number, ms: number, taken: number[] = []): Generator<null, string> {
  for (let at = 0; at < steps; at++) {
    const end = performance.now() + ms
    while (performance.now() < end);
    taken.push(at)
    yield null
  }
  return 'done'
}

t.test('returns what the generator returns, after all steps', async (t) => {
  const taken: number[] = []
  t.equal(await inSlices(busy(20, 0, taken), { work: 5, pause: 0 }, NEVER), 'done')
  t.equal(taken.length, 20)
})

t.test('the caller goes on before the first step', async (t) => {
  const taken: number[] = []
  const all = inSlices(busy(1, 0, taken), { work: 5, pause: 0 }, NEVER)
  t.same(taken, [])
  await all
})

t.test('other work runs between slices', async (t) => {
  let turns = 0
  let on = true
  const turn = () => {
    turns++
    if (on) setTimeout(turn, 1)
  }
  turn()
  // Each slice ends after two of the steps at the latest.
  await inSlices(busy(20, 2, []), { work: 3, pause: 1 }, NEVER)
  on = false
  t.ok(turns >= 9, `${turns} turns`)
})

t.test('ends between two slices when it is cancelled', async (t) => {
  const taken: number[] = []
  const controller = new AbortController()
  const all = inSlices(busy(1000, 2, taken), { work: 3, pause: 1 }, controller.signal)
  await until(
    () => taken.length > 0,
    () => 'no step is taken',
    { pause: 1 },
  )
  const before = taken.length
  controller.abort(new Error('enough'))
  await t.rejects(all, { message: 'enough' })
  t.equal(taken.length, before, 'no further step')
})

t.test('a fault of a step is the fault of the whole', async (t) => {
  const steps = (function* () {
    yield null
    throw new Error('broken')
  })()
  await t.rejects(inSlices(steps, { work: 5, pause: 0 }, NEVER), { message: 'broken' })
})
