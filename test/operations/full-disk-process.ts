/** Runs gateways on a store with a full disk, and prints their answers. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { MAIN } from '../support/gateway-process.ts'
import { fetchConforming } from '../support/openapi.ts'
import { until } from '../support/until.ts'

const [, , folder = '', disk = '', key = ''] = process.argv
const reserve = join(disk, 'seatgate.db.reserve')
const ballast = join(disk, 'ballast')
const headers = { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' }
const seen: Record<string, unknown> = {}

interface Running {
  readonly child: ChildProcess
  readonly url: string
  readonly ops: string
}

/** Null: it ended before it listened. */
async function start(): Promise<Running | null> {
  const child = spawn(process.execPath, [MAIN, 'start'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  let url = ''
  for await (const line of createInterface(child.stdout)) {
    url = /listening on (http:[^ "]+) \(front/.exec(line)?.[1] ?? url
    const ops = /listening on (http:[^ "]+) \(\/livez/.exec(line)?.[1]
    if (ops !== undefined) return { child, url, ops }
  }
  return null
}

async function end(running: Running, signal: NodeJS.Signals): Promise<void> {
  const exit = once(running.child, 'exit')
  running.child.kill(signal)
  await exit
}

function fill(): void {
  const file = openSync(ballast, 'a')
  try {
    for (;;) writeSync(file, Buffer.alloc(4096, 1))
  } catch {
    closeSync(file)
  }
}

async function probe(name: string): Promise<void> {
  const running = await start()
  if (running === null) {
    seen[name] = 'it ended'
    return
  }
  const { url, ops } = running
  const permissions = Array.from({ length: 9000 }, (_, at) => `resource-${at}:read-and-write`)
  const seat = { name: `large ${name}`, spaces: [], permissions: permissions.slice(0, 1500) }
  const statuses: number[] = []
  statuses.push((await fetchConforming(`${url}/v1/seats`, { headers })).status)
  // More than fits into the released reserve.
  for (let write = 0; write < 12; write++) {
    const body = JSON.stringify({ ...seat, name: `${seat.name} ${write}` })
    statuses.push((await fetchConforming(`${url}/v1/seats`, { method: 'POST', headers, body })).status)
  }
  statuses.push((await fetchConforming(`${url}/v1/seats`, { headers })).status)
  const { status } = await fetch(`${ops}/readyz`)
  seen[name] = { first: statuses[0], lastWrite: statuses.at(-2), last: statuses.at(-1), ready: status }
  await end(running, name === 'ended' ? 'SIGTERM' : 'SIGKILL')
}

const first = await start()
await until(() => existsSync(reserve), 'the reserve')
if (first !== null) await end(first, 'SIGTERM')
fill()
await probe('ended')
seen.reserve = existsSync(reserve)
rmSync(ballast)
const healed = await start()
await until(() => existsSync(reserve), 'the reserve')
if (healed !== null) await end(healed, 'SIGKILL')
fill()
await probe('killed')
rmSync(reserve, { force: true })
// The index that a crash leaves would serve the next start.
rmSync(join(disk, 'seatgate.db-shm'), { force: true })
fill()
await probe('without reserve')
process.stdout.write(JSON.stringify(seen))
