/** A trace is sampled by its id alone: exactly at the bound, and the same in every process. */

import t from 'tap'
import { newSpanId, newTraceId } from '../../../src/telemetry/tracing/ids.ts'
import { Sampler } from '../../../src/telemetry/tracing/tracer.ts'

const traceIdWith = (random: bigint) => `${'f'.repeat(18)}${random.toString(16).padStart(14, '0')}`
const RANGE = 2n ** 56n

t.test('the bound of each ratio', async (t) => {
  const cases: [ratio: number, rejected: bigint][] = [
    [0.5, RANGE / 2n],
    [0.25, (RANGE / 4n) * 3n],
    [2 ** -56, RANGE - 1n],
    [1 - 2 ** -53, 8n],
    [0.1, RANGE - BigInt(Math.round(0.1 * 2 ** 56))],
  ]
  for (const [ratio, rejected] of cases) {
    const sampler = new Sampler({ parentBased: false, ratio })
    t.equal(sampler.samples(traceIdWith(rejected), null), true, `${ratio}`)
    t.equal(sampler.samples(traceIdWith(rejected - 1n), null), false, `${ratio}`)
  }
})

t.test('all and none', async (t) => {
  const [all, none] = [1, 0].map((ratio) => new Sampler({ parentBased: false, ratio }))
  for (const random of [0n, 1n, RANGE - 1n]) {
    t.equal(all?.samples(traceIdWith(random), null), true)
    t.equal(none?.samples(traceIdWith(random), true), false)
  }
  const tiny = new Sampler({ parentBased: false, ratio: 2 ** -60 })
  t.equal(tiny.samples(traceIdWith(RANGE - 1n), null), false, 'less than one of 2^56')
})

t.test('the decision of a parent', async (t) => {
  for (const ratio of [0, 0.5, 1]) {
    const sampler = new Sampler({ parentBased: true, ratio })
    for (const random of [0n, RANGE - 1n]) {
      t.equal(sampler.samples(traceIdWith(random), true), true)
      t.equal(sampler.samples(traceIdWith(random), false), false)
    }
  }
})

t.test('ids', async (t) => {
  const ids = Array.from({ length: 2000 }, () => [newTraceId(), newSpanId()])
  t.equal(new Set(ids.flat()).size, 4000)
  t.ok(ids.every(([trace = '', span = '']) => /^[0-9a-f]{32}$/.test(trace) && /^[0-9a-f]{16}$/.test(span)))
})
