/** Runs the fuzz alone: `node test/redis/fuzz/run.ts --cases 5000 --seed 1`, cases for each gateway. Exit code 1 on a fault. */

import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { fuzz } from './fuzz.ts'
import { startModes } from './modes.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const ends: (() => unknown)[] = []
const scope = { teardown: (end: () => unknown) => void ends.push(end) } as unknown as Test
try {
  const { fleet, servers } = await startModes(scope, () => null)
  const seed = Number(values.seed)
  const cases = Number(values.cases)
  const found = await Promise.all(
    servers.map((server, at) => fuzz(fleet, fleet.at(at), server, { cases, seed: seed + at })),
  )
  console.log(JSON.stringify({ seed, cases, found }, null, 2))
  process.exitCode = found.every(({ faults }) => faults.length === 0) ? 0 : 1
} finally {
  for (const end of ends.toReversed()) await end()
}
