/** A gateway that leaves out a part in every other slice of time is measured, and both kinds of slices have requests. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { THOROUGH } from '../support/thorough.ts'

const bench = fileURLToPath(new URL('../../bench/ablation.ts', import.meta.url))
const run = (...args: string[]) => promisify(execFile)(process.execPath, [bench, ...args])

/** By a method that is always called, by settings, by a file of a key, by variables of the environment. */
const SOME = ['records', 'rate-limits', 'identity', 'tracing']
const ALL = ['records', 'blocks', 'rate-limit', 'rate-limits', 'identity', 'tracing-1', 'tracing']

for (const part of THOROUGH ? ALL : SOME)
  t.test(`bench/ablation.ts --part ${part}`, async (t) => {
    const short = '--rounds 1 --seconds 3 --slice 100 --warm-up 0 --workload one-token'.split(' ')
    const { stdout } = await run('--part', part, ...short)
    t.match(stdout, /^\| one token, [^|]+ \| [\d.]+ µs \| [\d.]+ \| [\d.]+ to [\d.]+ \| [1-9]\d* \|$/m)
  })

t.test('an unknown workload is refused', (t) =>
  t.rejects(run('--part', 'records', '--workload', 'none'), /no workload is called none/),
)

t.test('an unknown part is refused', (t) =>
  t.rejects(run(), new RegExp(`--part takes one of ${ALL.join(', ')}`)),
)
