/** Each part that is off by default is measured, by configurations that the gateway takes. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const fileOf = (name: string) => fileURLToPath(new URL(`../../bench/${name}`, import.meta.url))
const PARTS = [
  'a decision listener that is not asked',
  'a rate limit per caller',
  'three rate limits: caller, tenant, address',
  'signed identity, ES256',
  'tracing, 1 % of the requests',
  'tracing, each request',
  'metrics by upstream',
]

t.test('bench/parts.ts', async (t) => {
  const short = ['--rounds', '1', '--turns', '1', '--warm-up', '1', '--workload', 'one-token']
  const { stdout } = await promisify(execFile)(process.execPath, [fileOf('parts.ts'), ...short])
  for (const part of PARTS) t.match(stdout, new RegExp(`^\\| ${part} \\| [\\d.]+ µs \\| [\\d.]+ \\|`, 'm'))
})

t.test('bench/fairness.ts', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    fileOf('fairness.ts'),
    '--rounds',
    '1',
    '--seconds',
    '1',
  ])
  for (const row of ['alone', 'beside five times the limit', 'beside as many as it can'])
    t.match(stdout, new RegExp(`^\\| ${row} \\| [\\d.]+ ms \\|`, 'm'))
})
