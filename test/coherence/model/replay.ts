/** Whether the model has what happened in the simulation: it is replayed event by event, with the rules that Spin explores. */

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { LEASE, MARGIN } from '../../../src/coherence/lease.ts'
import { type ModelEvent, TRACED, WORDS } from '../simulation/model-trace.ts'
import { compiled } from './spin.ts'

/** Microseconds. A timer may be a millisecond early; one more for times that are rounded. */
const TIMES = { LEASE: LEASE * 1000 + 1, WAIT: (LEASE + MARGIN - 2) * 1000 }
/** Readings that a frozen worker has not received yet. */
const QUEUE = 16

/** Null: the model has it. Else the number of the first event that it does not have. */
export type Replay = (events: readonly ModelEvent[]) => Promise<number | null>

export async function replayer(t: Pick<Test, 'teardown'>): Promise<Replay> {
  const sizes = Object.entries({ ...TRACED, ...TIMES, QUEUE }).map((size) => size.join('='))
  const words = WORDS.map((word, at) => `E_${word}=${at + 1}`)
  // Each gateway reads and decides.
  const rest = ['SET=int', 'TIME=int', `READERS=${2 ** (TRACED.INSTANCES - 1) - 1}`, 'EARLY_ACKNOWLEDGEMENTS']
  const flags = ['-O2', '-DVECTORSZ=8192', `-DMAX_EVENTS=${TRACED.MAX_EVENTS}`]
  const cwd = await compiled(t, ['TRACE', ...sizes, ...words, ...rest], flags)
  return async (events) => {
    writeFileSync(join(cwd, 'trace'), events.map(lineOf).join(''))
    const { stdout } = await promisify(execFile)('./pan', ['-m100000', '-w12'], { cwd })
    const [, taken = '', of = ''] = /^taken: (\d+) of (\d+)$/m.exec(stdout) ?? []
    if (Number(of) !== events.length) throw new Error(`the model has not read the trace:\n${stdout}`)
    return stdout.includes('errors: 0') ? null : Number(taken)
  }
}

function lineOf([word, a = 0, b = 0, c = 0, d = 0]: ModelEvent): string {
  return `${WORDS.indexOf(word) + 1} ${a} ${b} ${c} ${d}\n`
}
