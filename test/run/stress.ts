/**
 * `npm run test:stress`: runs the quick tests again and again on a machine that is slow on purpose, beside
 * two busy loops and a writer of files, and names each file that failed. A test that fails here waits for a
 * time instead of an event.
 *
 *   node test/run/stress.ts [--times N] [FILE_OR_PATTERN ...]
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'

const BUSY = 'for (;;);'
/** Writes 4 MiB to the disk and takes them away, again and again. */
const WRITER = `
  const { closeSync, fsyncSync, openSync, writeSync, unlinkSync } = require('node:fs')
  const file = require('node:worker_threads').workerData
  for (const bytes = Buffer.alloc(4 * 1024 * 1024, 'x'); ; ) {
    const descriptor = openSync(file, 'w')
    writeSync(descriptor, bytes)
    fsyncSync(descriptor)
    closeSync(descriptor)
    unlinkSync(file)
  }`
const RUN = fileURLToPath(new URL('./run.ts', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '20' } },
})
const times = Number(values.times)
if (!Number.isSafeInteger(times) || times < 1) {
  console.error('--times takes a number from 1')
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'seatgate-stress-'))
// Threads: they end with this process, however it ends.
const load = [BUSY, BUSY, WRITER].map(
  (program) => new Worker(program, { eval: true, workerData: join(folder, 'file') }),
)
const failed = new Map<string, number>()
for (let round = 1; round <= times; round++) {
  const ok = await runOnce()
  console.log(`\nround ${round} of ${times}: ${ok ? 'passed' : 'FAILED'}\n`)
}
await Promise.all(load.map((each) => each.terminate()))
rmSync(folder, { recursive: true })
for (const [file, count] of failed) console.log(`FAILED ${count} of ${times} times: ${file}`)
if (failed.size === 0) console.log(`no file failed in ${times} rounds`)
process.exitCode = failed.size === 0 ? 0 : 1

/** @returns whether all files passed */
async function runOnce(): Promise<boolean> {
  const run = spawn(process.execPath, [RUN, ...positionals], { stdio: ['ignore', 'pipe', 'inherit'] })
  const seen = new Set<string>()
  createInterface({ input: run.stdout }).on('line', (line) => {
    console.log(line)
    const [, file] = /^FAILED (\S+)$/.exec(line) ?? []
    if (file !== undefined) seen.add(file)
  })
  const [code] = (await once(run, 'close')) as [number | null]
  for (const file of seen) failed.set(file, (failed.get(file) ?? 0) + 1)
  return code === 0
}
