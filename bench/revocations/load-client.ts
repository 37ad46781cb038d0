/** Sends requests at a fixed rate to the ports in turn until it is ended. Reads a {@link FleetLoad} as JSON from standard input. */

import { readFileSync } from 'node:fs'
import { Pool } from 'undici'

export interface FleetLoad {
  readonly ports: readonly number[]
  readonly headers: Readonly<Record<string, string>>
  /** Requests per second, to all ports together. */
  readonly rate: number
}

/** Milliseconds between two bursts. */
const EVERY = 5
const MAX_WAITING = 1000

const { ports, headers, rate }: FleetLoad = JSON.parse(readFileSync(0, 'utf8'))
const pools = ports.map((port) => new Pool(`http://127.0.0.1:${port}`, { connections: 16 }))
const begun = performance.now()
let sent = 0
let waiting = 0

setInterval(() => {
  const due = ((performance.now() - begun) * rate) / 1000
  for (; sent < due; sent++) if (waiting < MAX_WAITING) void ask(pools[sent % pools.length])
}, EVERY)

async function ask(pool: Pool | undefined): Promise<void> {
  waiting++
  try {
    await (await pool?.request({ method: 'GET', path: '/v1/trainings', headers }))?.body.dump()
  } catch {
    // An instance may be stopped.
  }
  waiting--
}
