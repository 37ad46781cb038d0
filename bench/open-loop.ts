/** Load at a fixed rate, and the latency of each response, by `open-loop-client.ts` in a process of its own. */

import type { Latency, RatedLoad } from './latency.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { bound, loadCores, prioritized } from './cores.ts'

const CLIENT = fileURLToPath(new URL('./open-loop-client.ts', import.meta.url))

/** Milliseconds beyond its time that the client may take. */
const MARGIN = 30_000

/** Rejects when the client fails. */
export function atRate(load: RatedLoad): Promise<Latency> {
  const [file = '', ...args] = bound(
    loadCores(load.workers),
    prioritized(load.background, [process.execPath, CLIENT, JSON.stringify(load)]),
  )
  const timeout = load.seconds * 1000 + MARGIN
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
