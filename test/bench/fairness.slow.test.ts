/** The bench of rate limits' fairness prints its three rows of Seatgate. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const bench = fileURLToPath(new URL('../../bench/fairness.ts', import.meta.url))

t.test('bench/fairness.ts', async (t) => {
  const short = ['--rounds', '1', '--seconds', '1', '--warm-up', '1']
  const { stdout } = await promisify(execFile)(process.execPath, [bench, ...short])
  for (const row of ['alone', 'beside five times the limit', 'beside as many as it can'])
    t.match(stdout, new RegExp(`^\\| Seatgate \\| ${row} \\| [\\d.]+ ms \\|`, 'm'))
})
