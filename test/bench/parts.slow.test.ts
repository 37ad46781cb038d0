/**
 * Parts that are off by default are measured, by configurations that the gateway takes: one of each kind, and all of them in a
 * thorough run.
 */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { THOROUGH } from '../support/thorough.ts'

const fileOf = (name: string) => fileURLToPath(new URL(`../../bench/${name}`, import.meta.url))
const PARTS = {
  decision: 'a decision listener that is not asked',
  'rate-limit': 'a rate limit per caller',
  'rate-limits': 'three rate limits: caller, tenant, address',
  identity: 'signed identity, ES256',
  'tracing-1': 'tracing, 1 % of the requests',
  tracing: 'tracing, each request',
  metrics: 'metrics by upstream',
}
/** By settings, by a file of a key, by variables of the environment. */
const SOME = ['rate-limits', 'identity', 'tracing'] as const
const chosen = THOROUGH ? Object.keys(PARTS) : SOME

t.test('bench/parts.ts', async (t) => {
  const short = ['--rounds', '1', '--turns', '1', '--warm-up', '0', '--workload', 'one-token']
  const only = ['--only', chosen.join(',')]
  const { stdout } = await promisify(execFile)(process.execPath, [fileOf('parts.ts'), ...short, ...only])
  const rows = Object.entries(PARTS).filter(([name]) => chosen.some((each) => each === name))
  t.equal(rows.length, chosen.length)
  for (const [, part] of rows) t.match(stdout, new RegExp(`^\\| ${part} \\| [\\d.]+ µs \\| [\\d.]+ \\|`, 'm'))
})

t.test('bench/fairness.ts', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    fileOf('fairness.ts'),
    ...['--rounds', '1', '--seconds', '1', '--warm-up', '1'],
  ])
  for (const row of ['alone', 'beside five times the limit', 'beside as many as it can'])
    t.match(stdout, new RegExp(`^\\| ${row} \\| [\\d.]+ ms \\|`, 'm'))
})
