/**
 * Random and mutated byte streams: no crash, no hang, no 5xx, nothing forwarded that no strict reading of the bytes
 * allows, and every reader finds the same requests in the forwarded bytes. `FUZZ_CASES`, `FUZZ_SEED` and `FUZZ_FROM`
 * (the first case) choose other cases, `FUZZ_LATE` the ms after which a response is missing.
 */

import t from 'tap'
import { amount } from '../support/thorough.ts'
import { startGateway } from './gateway.ts'
import { fuzz } from './fuzz/fuzz.ts'

const { FUZZ_CASES, FUZZ_SEED, FUZZ_FROM = 0, FUZZ_LATE = 60_000 } = process.env
const CASES = Number(FUZZ_CASES ?? amount({ usual: 2000, thorough: 20_000 }))

t.test(`${CASES} cases`, async (t) => {
  const seed = Number(FUZZ_SEED ?? Date.now() % 1_000_000_000)
  const gateway = await startGateway(t)
  const options = { cases: CASES, seed, from: Number(FUZZ_FROM), late: Number(FUZZ_LATE) }
  const { faults, ...figures } = await fuzz(gateway, options)
  t.comment(JSON.stringify({ seed, ...figures, faults: faults.length }))
  t.same(faults.slice(0, 5), [], `to repeat: FUZZ_SEED=${seed}`)
  t.equal(figures.cases, CASES)
  t.ok(figures.valid > CASES / 20 && figures.forwarded > CASES / 10 && figures.refused > CASES / 10)
})
