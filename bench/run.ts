/**
 * `npm run bench`: Seatgate and its alternatives in front of a service, measured side by side. A run has a
 * fresh process, the order is reversed each round, and medians are compared.
 *
 * `--quick` is a short run; `--only NAME[,NAME]` selects peers, workloads or parts; `--rounds N`. A whole run
 * writes its results into this folder, any other one into the temporary folder. `--compare REV` is the
 * regression guard: see `compare.ts`.
 */

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare } from './compare.ts'
import { curveDrawing } from './curves/drawing.ts'
import { type Ending, messageOf, refuse, runBench, say, temporaryFolder } from './harness.ts'
import { peers } from './peers/all.ts'
import { picture } from './picture.ts'
import { openPlace } from './place.ts'
import { choose, PARTS } from './plan.ts'
import type { Measured } from './measured.ts'
import { report } from './results.ts'
import { ENOUGH, WARM } from './traffic.ts'
import { WholeBench } from './whole.ts'
import { workloads } from './workloads.ts'

const USAGE = `npm run bench -- [--quick] [--only NAME[,NAME]] [--rounds N]
npm run bench -- --compare REV [--threshold RATIO] [--quick] [--only NAME[,NAME]] [--rounds N] [--instructions]`

const values = readOptions()
const { quick } = values
const only = values.only?.split(',') ?? null

await runBench((ending) => (values.compare === undefined ? bench(ending) : guard(ending, values.compare)))

/** The exit code: 1 if a run failed, 2 for an unknown name. */
async function bench(ending: Ending): Promise<number> {
  const choice = choose(peers, workloads, only, quick)
  if (!('parts' in choice)) {
    const names = [...peers, ...workloads].map(({ name }) => name).concat(PARTS)
    return refuse(`nothing is called ${choice.join(', ')}; there are ${names.join(', ')}`)
  }
  const lengths = quick
    ? { warmUp: 30, shortWarmUp: 30, warming: 1.5 * WARM, saturated: 2, rated: 2 }
    : { warmUp: 15, shortWarmUp: 5, warming: ENOUGH, saturated: 3, rated: 3 }
  const wanted = { ...choice, quick, rounds: values.rounds ?? (quick ? 1 : 3), lengths }
  const place = await openPlace(ending, temporaryFolder(ending, 'bench'))
  const measured = await new WholeBench(wanted, place).run()
  write(measured)
  return measured.results.some(({ samples }) => samples.length === 0) ? 1 : 0
}

/** The exit code: 1 if a workload got slower, 2 if nothing could be compared. */
async function guard(ending: Ending, revision: string): Promise<number> {
  const { instructions, threshold } = values
  const rounds = values.rounds ?? (instructions ? 3 : quick ? 6 : 12)
  try {
    return await compare(ending, revision, { only, quick, rounds, instructions, threshold })
  } catch (cause) {
    say(messageOf(cause))
    return 2
  }
}

/** Ends the process for an unknown option. */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        rounds: { type: 'string' },
        compare: { type: 'string' },
        instructions: { type: 'boolean', default: false },
        threshold: { type: 'string', default: '1.05' },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const rounds = values.rounds === undefined ? null : Number(values.rounds)
    if (rounds !== null && !(Number.isInteger(rounds) && rounds > 0))
      throw new Error(`--rounds is a number of rounds, not ${values.rounds}`)
    if (values.instructions && values.compare === undefined)
      throw new Error('--instructions is an option of --compare')
    const threshold = Number(values.threshold)
    if (!(threshold > 0)) throw new Error(`--threshold is a ratio, not ${values.threshold}`)
    return { ...values, rounds, threshold }
  } catch (cause) {
    return refuse(`${messageOf(cause)}\n${USAGE}`)
  }
}

function write(measured: Measured): void {
  const whole = only === null && !quick
  const folder = whole ? fileURLToPath(new URL('.', import.meta.url)) : tmpdir()
  const put = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    say(`wrote ${join(folder, name)}`)
  }
  const text = report(measured)
  console.log(text)
  put('RESULTS.md', text)
  if (measured.results.some(({ samples }) => samples.length > 0)) put('results.svg', picture(measured))
  if (measured.curves !== null) put('curves.svg', curveDrawing(measured.curves, measured.machine))
  writeFileSync(join(tmpdir(), 'seatgate-bench.json'), JSON.stringify(measured, null, 1))
}
