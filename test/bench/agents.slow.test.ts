/** Calls of an MCP server: their cost beside a plain POST, and the end of those in flight. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

t.test('a trial of each part', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    'bench/agents.ts',
    '--quick',
    '--turns',
    '1',
  ])
  const [cost, cuts] = stdout.split('\n').filter((line) => /^\| \d/.test(line))
  t.match(cost, /^\| 1 \| [\d.]+ \| [\d.]+ \| [\d.]+, [\d.]+, [\d.]+ \|$/)
  t.match(cuts, /^\| 1 \| 20 \| \d+ \| \d+ \| \d+ \|$/, 'each stream ended with an error')
})
