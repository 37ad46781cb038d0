/** The micro-benchmark runs on the current code, and has a figure for each stage. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const MICRO = fileURLToPath(new URL('../../bench/micro.ts', import.meta.url))
const STAGES = [
  'read the target',
  'match it among 10,000 routes',
  'match it among 10,000 routes of 100 hosts, host read',
  'a token that is known',
  'a token never seen, verified',
  'resolve a Seat',
  'decide',
  'judge: all of the above, token known',
  'headers to the upstream',
  'headers to the client',
  'a line of the access log, written',
  'metrics',
  'tracing: not sampled',
  'tracing: sampled, two spans encoded',
]

t.test('npm run bench:micro', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [MICRO, '--rounds', '1'])
  for (const stage of STAGES) t.match(stdout, new RegExp(`^\\| ${stage} \\| [\\d,]+ ns \\|$`, 'm'))
})
