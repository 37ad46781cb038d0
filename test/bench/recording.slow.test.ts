/** A gateway that records its decisions in every other slice of time is measured, and both kinds of slices have requests. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const bench = fileURLToPath(new URL('../../bench/recording.ts', import.meta.url))

t.test('bench/recording.ts', async (t) => {
  const short = ['--rounds', '1', '--seconds', '5', '--warm-up', '0', '--workload', 'one-token']
  const { stdout } = await promisify(execFile)(process.execPath, [bench, ...short])
  t.match(stdout, /^\| one token, [^|]+ \| [\d.]+ µs \| [\d.]+ \| [\d.]+ to [\d.]+ \| [1-9]\d* \|$/m)
})

t.test('an unknown workload is refused', (t) =>
  t.rejects(
    promisify(execFile)(process.execPath, [bench, '--workload', 'none']),
    /no workload is called none/,
  ),
)
