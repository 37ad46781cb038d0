/** Load at a fixed rate, and how long each answer took, by `open-loop-client.ts` in a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { bound, loadCores } from './cores.ts'
import type { Load } from './load.ts'

const CLIENT = fileURLToPath(new URL('./open-loop-client.ts', import.meta.url))

/** Milliseconds beyond its time that the client may take. */
const PATIENCE = 30_000

export interface RatedLoad extends Omit<Load, 'countStatuses'> {
  /** Requests a second. */
  readonly rate: number
}

/** Milliseconds, from when a request was due to the end of its answer. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly most: number
  /** p99 of what the client itself was late in sending: it is part of all the others. */
  readonly late: number
  /** Answered, and of these not with 200. */
  readonly requests: number
  readonly refused: number
  readonly failed: number
  /** Requests a second that were asked for. */
  readonly rate: number
}

/** Rejects when the client fails. */
export function atRate(load: RatedLoad): Promise<Latency> {
  const [file = '', ...args] = bound(loadCores(load.workers), [
    process.execPath,
    CLIENT,
    JSON.stringify(load),
  ])
  const timeout = load.seconds * 1000 + PATIENCE
  return resultOf(spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout }))
}

async function resultOf(child: ChildProcess): Promise<Latency> {
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`the client ended with ${code ?? signal}`)
  return JSON.parse(text) as Latency
}
