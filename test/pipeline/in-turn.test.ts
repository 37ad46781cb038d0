/** Large values are built one after the other. */

import t from 'tap'
import { inTurn } from '../../src/pipeline/in-turn.ts'

t.test('a work begins when those before it have ended, whatever their result', async (t) => {
  let running = 0
  const begun: number[] = []
  const work = async (at: number) => {
    begun.push(at)
    t.equal(++running, 1, `${at} is alone`)
    await new Promise((resolve) => void setImmediate(resolve))
    running--
    if (at % 2 === 1) throw new Error(`failed ${at}`)
    return at
  }
  const all = Array.from({ length: 6 }, (_, at) =>
    inTurn(
      () => work(at),
      () => false,
    ),
  )
  const results = await Promise.allSettled(all)
  t.same(
    results.map((each) => (each.status === 'fulfilled' ? each.value : String(each.reason))),
    [0, 'Error: failed 1', 2, 'Error: failed 3', 4, 'Error: failed 5'],
  )
  t.same(begun, [0, 1, 2, 3, 4, 5])
})

t.test('a work whose client is gone when its turn comes is not begun', async (t) => {
  let isGone = false
  const first = inTurn(
    async () => (isGone = true),
    () => false,
  )
  const begun: string[] = []
  void inTurn(
    async () => begun.push('gone'),
    () => isGone,
  )
  await inTurn(
    async () => begun.push('next'),
    () => false,
  )
  t.equal(await first, true)
  t.same(begun, ['next'])
})

t.test('owners take turns, however many works one of them has', async (t) => {
  const begun: string[] = []
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) =>
    inTurn(
      async () => {
        begun.push(name)
        await new Promise((resolve) => void setImmediate(resolve))
      },
      () => false,
      name[0],
    ),
  )
  await Promise.all(all)
  t.same(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
})
