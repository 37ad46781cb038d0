/**
 * Random and mutated byte streams: no crash, no hang, no 5xx, nothing forwarded that no strict reading of the bytes
 * allows, and every reader finds the same requests in the forwarded bytes. `fuzz/run.ts` runs any number of cases.
 */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { startGateway } from './gateway.ts'
import { fuzz } from './fuzz/fuzz.ts'
import { WEAKNESSES } from './fuzz/weak.ts'

const CASES = 20_000
/** Enough to find each of the weaknesses. */
const WEAK_CASES = 10_000

t.test(`${CASES} cases`, async (t) => {
  const seed = Date.now() % 1_000_000_000
  const gateway = await startGateway(t)
  const { faults, ...figures } = await fuzz(gateway, { cases: CASES, seed })
  t.equal(figures.cases, CASES)
  t.ok(figures.valid > CASES / 20 && figures.forwarded > CASES / 10 && figures.refused > CASES / 10)
  t.same(faults.slice(0, 5), [], `to repeat: node test/hostile/fuzz/run.ts --cases ${CASES} --seed ${seed}`)
  t.comment(JSON.stringify({ seed, ...figures }))
})

const RUN = fileURLToPath(new URL('./fuzz/run.ts', import.meta.url))

for (const weakness of WEAKNESSES) {
  t.test(`the fuzzer finds this fault of a gateway: ${weakness}`, async (t) => {
    const options = ['--cases', String(WEAK_CASES), '--seed', '1', '--weak', weakness]
    const run = promisify(execFile)(process.execPath, [RUN, ...options], { maxBuffer: 64 * 1024 * 1024 })
    const failure = (await run.then(
      () => null,
      (error: unknown) => error,
    )) as { code: number; stdout: string } | null
    t.equal(failure?.code, 1)
    t.match(failure?.stdout, /"faults":[1-9]/)
  })
}
