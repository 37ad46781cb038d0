/**
 * Seatgate that records its decisions for the console in every other slice of time, for the bench alone: one process takes both
 * sides, because two processes of the same code differ by more than the records cost. No setting does this. On SIGTERM it
 * writes the slices to a file.
 */

import { writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

// As in `seatgate.js`, before any of the code is read.
enableCompileCache()
setFlagsFromString('--semi-space-growth-factor=1')
const { ProcessActivity } = await import('../../src/telemetry/process-activity.ts')

export interface Slice {
  readonly isRecorded: boolean
  readonly requests: number
  /** Microseconds of all threads. */
  readonly cpu: number
}

/** Milliseconds: some scavenges long, so that few of them collect the garbage of the slice before. */
const SLICE = 250

const slices: Slice[] = []
let isRecorded = true
let requests = 0
let usage = process.cpuUsage()

const { decided } = ProcessActivity.prototype
ProcessActivity.prototype.decided = function (...args) {
  requests++
  if (isRecorded) decided.apply(this, args)
}

setInterval(() => {
  const { user, system } = process.cpuUsage(usage)
  slices.push({ isRecorded, requests, cpu: user + system })
  isRecorded = !isRecorded
  requests = 0
  usage = process.cpuUsage()
}, SLICE).unref()

// The command reads its arguments from here.
const [node = '', script = '', output = '', file = ''] = process.argv
process.once('SIGTERM', () => writeFileSync(output, JSON.stringify(slices)))
process.argv = [node, script, 'start', '--config', file]
await import(new URL('../../src/cli/seatgate.js', import.meta.url).href)
