/**
 * `npm run bench`: Seatgate and its alternatives in front of a service, measured side by side. A run has a fresh
 * process, the order is reversed each round, and medians are compared.
 *
 * `--quick` is a short run; `--only NAME[,NAME]` selects peers, workloads or parts; `--rounds N`. A whole run writes
 * its results into this folder, any other one into the temporary folder. `--compare REV` is the regression guard: see
 * `compare.ts`.
 */

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare } from './compare.ts'
import { bindThisProcess } from './cores.ts'
import { curveDrawing } from './curves/drawing.ts'
import { peers } from './peers/all.ts'
import { picture } from './picture.ts'
import { openPlace, temporaryFolder } from './place.ts'
import { choose, PARTS } from './plan.ts'
import type { Measured } from './measured.ts'
import { report } from './results.ts'
import { messageOf } from './rounds.ts'
import { Ending } from './scale/ending.ts'
import { ENOUGH, WARM } from './traffic.ts'
import { WholeBench } from './whole.ts'
import { workloads } from './workloads.ts'

const USAGE = `npm run bench -- [--quick] [--only NAME[,NAME]] [--rounds N]
npm run bench -- --compare REV [--threshold RATIO] [--quick] [--only NAME[,NAME]] [--rounds N] [--instructions]`

const values = readOptions()
const { quick } = values
const only = values.only?.split(',') ?? null
const roundsOr = (usual: number) => values.rounds ?? usual

bindThisProcess()
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
process.exitCode = values.compare === undefined ? await bench() : await guard(values.compare)

/** The exit code: 1 where a run failed, 2 for an unknown name. */
async function bench(): Promise<number> {
  const choice = choose(peers, workloads, only, quick)
  if (!('parts' in choice)) {
    const names = [...peers, ...workloads].map(({ name }) => name).concat(PARTS)
    say(`nothing is called ${choice.join(', ')}; there are ${names.join(', ')}`)
    return 2
  }
  const ending = new Ending()
  try {
    const lengths = quick
      ? { warmUp: 30, shortWarmUp: 30, warming: 1.5 * WARM, saturated: 2, rated: 2 }
      : { warmUp: 15, shortWarmUp: 5, warming: ENOUGH, saturated: 3, rated: 3 }
    const wanted = { ...choice, quick, rounds: roundsOr(quick ? 1 : 3), lengths, say }
    const measured = await new WholeBench(
      wanted,
      await openPlace(ending, temporaryFolder(ending, 'bench')),
    ).run()
    write(measured)
    return measured.results.some(({ samples }) => samples.length === 0) ? 1 : 0
  } finally {
    await ending.run()
  }
}

/** 2 where nothing could be compared, as distinct from slower. */
async function guard(revision: string): Promise<number> {
  try {
    return await compare(revision, {
      only,
      quick,
      rounds: roundsOr(values.instructions ? 3 : quick ? 6 : 12),
      instructions: values.instructions,
      threshold: values.threshold,
    })
  } catch (cause) {
    say(messageOf(cause))
    return 2
  }
}

/** Ends the process where an unknown option is among them. */
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
    say(`${messageOf(cause)}\n${USAGE}`)
    process.exit(2)
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

/** Standard output is for the results. */
function say(line: string): void {
  console.error(line)
}
