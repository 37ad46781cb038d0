/**
 * Random and mutated byte streams at the door: no crash, no hang, no 5xx, nothing forwarded that no strict reading of
 * the bytes allows, and what is forwarded reads the same to everybody. `fuzz/run.ts` does as many cases as one likes.
 */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { openDoor } from './door.ts'
import { fuzz } from './fuzz/fuzz.ts'
import { WEAKNESSES } from './fuzz/weak.ts'

const CASES = 20_000
/** Enough to see any of the weaknesses. */
const WEAK_CASES = 10_000

t.test(`${CASES} cases`, async (t) => {
  const seed = Date.now() % 1_000_000_000
  const door = await openDoor(t)
  const { faults, ...figures } = await fuzz(door, { cases: CASES, seed })
  t.equal(figures.cases, CASES)
  t.ok(figures.valid > CASES / 20 && figures.forwarded > CASES / 10 && figures.refused > CASES / 10)
  t.same(
    faults.slice(0, 5),
    [],
    `to have them again: node test/hostile/fuzz/run.ts --cases ${CASES} --seed ${seed}`,
  )
  t.comment(JSON.stringify({ seed, ...figures }))
})

const RUN = fileURLToPath(new URL('./fuzz/run.ts', import.meta.url))

for (const weakness of WEAKNESSES) {
  t.test(`a gateway with this fault is found out: ${weakness}`, async (t) => {
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
