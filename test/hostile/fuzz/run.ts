/**
 * `node test/hostile/fuzz/run.ts --cases 100000 --seed 1` runs the fuzzer alone. It exits with 1 after a fault.
 * `--from` starts at a case; `--weak` breaks the gateway first (see weak.ts).
 */

import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { weaken } from './weak.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    from: { type: 'string', default: '0' },
    weak: { type: 'string' },
  },
})
if (values.weak !== undefined) weaken(values.weak)

// The gateway must be loaded after the weakness is applied.
const { startGateway } = await import('../gateway.ts')
const { fuzz } = await import('./fuzz.ts')

const ends: (() => unknown)[] = []
const scope = {
  teardown: (end: () => unknown) => void ends.push(end),
  beforeEach: () => {},
} as unknown as Test
const started = performance.now()
try {
  const gateway = await startGateway(scope)
  const { faults, ...figures } = await fuzz(gateway, {
    cases: Number(values.cases),
    seed: Number(values.seed),
    from: Number(values.from),
    ...(values.weak === undefined ? {} : { stopAtFault: true, late: 5000 }),
  })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  const seconds = Math.round((performance.now() - started) / 100) / 10
  console.log(JSON.stringify({ seed: Number(values.seed), ...figures, faults: faults.length, seconds }))
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  for (const end of ends.toReversed()) await end()
}
