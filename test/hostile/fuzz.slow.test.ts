/**
 * Random and mutated byte streams: no crash, no hang, no 5xx, nothing forwarded that no strict reading of the bytes
 * allows, and every reader finds the same requests in the forwarded bytes. `fuzz/run.ts` runs any number of cases.
 */

import t from 'tap'
import { amount } from '../support/thorough.ts'
import { startGateway } from './gateway.ts'
import { fuzz } from './fuzz/fuzz.ts'

const CASES = amount({ usual: 2000, thorough: 20_000 })

t.test(`${CASES} cases`, async (t) => {
  const seed = Date.now() % 1_000_000_000
  const gateway = await startGateway(t)
  const { faults, ...figures } = await fuzz(gateway, { cases: CASES, seed })
  t.equal(figures.cases, CASES)
  t.ok(figures.valid > CASES / 20 && figures.forwarded > CASES / 10 && figures.refused > CASES / 10)
  t.same(faults.slice(0, 5), [], `to repeat: node test/hostile/fuzz/run.ts --cases ${CASES} --seed ${seed}`)
  t.comment(JSON.stringify({ seed, ...figures }))
})
