/**
 * Seatgate that leaves out a part in every other slice of time, for the bench alone: one process takes both
 * sides, because two processes of the same code differ by more than a part costs. No setting does this. On
 * SIGTERM it writes the slices to a file.
 */

import { writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

// As in `seatgate.js`, before any of the code is read.
enableCompileCache()
setFlagsFromString('--semi-space-growth-factor=1')
const { PARTS } = await import('./ablated-parts.ts')
const { ProcessActivity } = await import('../../src/telemetry/process-activity.ts')

export interface Slice {
  readonly isWhole: boolean
  readonly requests: number
  /** Microseconds of all threads. */
  readonly cpu: number
}

// The command reads its arguments from `process.argv`.
const [node = '', script = '', part = '', slice = '', output = '', file = ''] = process.argv
const slices: Slice[] = []
const presence = { isWhole: true }
let requests = 0
let usage = process.cpuUsage()

PARTS.get(part)?.(presence)
const { decided } = ProcessActivity.prototype
ProcessActivity.prototype.decided = function (...args) {
  requests++
  decided.apply(this, args)
}

setInterval(() => {
  const { user, system } = process.cpuUsage(usage)
  slices.push({ isWhole: presence.isWhole, requests, cpu: user + system })
  presence.isWhole = !presence.isWhole
  requests = 0
  usage = process.cpuUsage()
}, Number(slice)).unref()

process.once('SIGTERM', () => writeFileSync(output, JSON.stringify(slices)))
process.argv = [node, script, 'start', '--config', file]
await import(new URL('../../src/cli/seatgate.js', import.meta.url).href)
