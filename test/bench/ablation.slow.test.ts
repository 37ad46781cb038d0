/** A gateway that leaves out a part in every other slice of time is measured, and both kinds of slices have requests. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const bench = fileURLToPath(new URL('../../bench/ablation.ts', import.meta.url))
const run = (...args: string[]) => promisify(execFile)(process.execPath, [bench, ...args])

for (const part of ['records', 'blocks'])
  t.test(`bench/ablation.ts --part ${part}`, async (t) => {
    const short = ['--rounds', '1', '--seconds', '5', '--warm-up', '0', '--workload', 'one-token']
    const { stdout } = await run('--part', part, ...short)
    t.match(stdout, /^\| one token, [^|]+ \| [\d.]+ µs \| [\d.]+ \| [\d.]+ to [\d.]+ \| [1-9]\d* \|$/m)
  })

t.test('an unknown workload is refused', (t) =>
  t.rejects(run('--part', 'records', '--workload', 'none'), /no workload is called none/),
)

t.test('an unknown part is refused', (t) => t.rejects(run(), /--part takes one of records, blocks/))
