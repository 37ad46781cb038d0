/**
 * `npm test` without types and lint: runs test files, some at once, each in a process of its own, and prints
 * how far it is. tap's own runner takes a third more CPU, as it hooks into each module that a test loads, and
 * it prints nothing before the end if there is no terminal.
 *
 *   node test/run/run.ts [--slow] [--coverage] [--jobs N] [FILE_OR_PATTERN ...]
 *
 * Without patterns, all files run. Files named `*.slow.test.ts` run with `--slow`, or if a pattern ends with
 * that name. With `--coverage`, the run also fails if it executes too little of the product's code.
 */

import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Coverage } from './coverage.ts'
import { IdleCores } from './idle-cores.ts'
import { endAll } from './processes.ts'
import { Progress } from './progress.ts'
import { writeBundles } from './bundles.ts'
import { runFile } from './test-file.ts'

/** Milliseconds in which the cores are observed; a file that has started has its share in the next ones. */
const INTERVAL = 2000
/** The share of the cores' time, when another file is started. */
const IDLE = 0.25

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    slow: { type: 'boolean', default: false },
    coverage: { type: 'boolean', default: false },
    jobs: { type: 'string' },
  },
})

function filesOf(patterns: readonly string[]): string[] {
  const isSlow = (name: string) => name.endsWith('.slow.test.ts')
  const matches = patterns.flatMap((pattern) =>
    globSync(pattern).filter((file) => values.slow || isSlow(pattern) || !isSlow(file)),
  )
  return [...new Set(matches)].sort()
}

const files = filesOf(positionals.length === 0 ? ['test/**/*.test.ts'] : positionals)
if (files.length === 0) {
  console.error(`no test file: ${positionals.join(' ')}`)
  process.exit(2)
}
// Files wait for servers and timers, too: one more than the cores can run keeps them busy, and others while
// they are idle.
const cores = availableParallelism()
const jobs = Number(values.jobs ?? cores + 1)
const most = values.jobs === undefined ? jobs + cores : jobs
if (!Number.isSafeInteger(jobs) || jobs < 1) {
  console.error('--jobs takes a number from 1')
  process.exit(2)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    endAll()
    process.exit(1)
  })

// A run that a test file starts has the bundles of the run around it.
if (process.env['SEATGATE_TEST_RUN'] === undefined) await writeBundles()
const coverage = values.coverage ? new Coverage() : null
const progress = new Progress(files.length)
const waiting = files[Symbol.iterator]()
/** The jobs take files from one iterator. */
async function work(): Promise<void> {
  for (const file of waiting) await runOne(file)
}
async function runOne(file: string): Promise<void> {
  progress.started(file)
  progress.ended(await runFile(file, coverage?.env))
  coverage?.reduce()
}

const additional = new Set<Promise<void>>()
const idle = new IdleCores()
const timer = setInterval(() => {
  if (idle.share() < IDLE || jobs + additional.size >= most) return
  const { value: file } = waiting.next()
  if (file === undefined) return
  const run = runOne(file).finally(() => additional.delete(run))
  additional.add(run)
}, INTERVAL)
await Promise.all(Array.from({ length: jobs }, work))
clearInterval(timer)
await Promise.all(additional)
const { report, isEnough } = (await coverage?.report()) ?? { report: '', isEnough: true }
if (report !== '') console.log(report)
process.exitCode = progress.finish() && isEnough ? 0 : 1
