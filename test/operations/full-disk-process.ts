/** Runs gateways on a store with a full disk, and prints their answers. */

import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { GatewayProcess } from '../support/gateway-process.ts'
import { fetchConforming } from '../support/openapi.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'

const [, , folder = '', disk = '', key = ''] = process.argv
const reserve = join(disk, 'seatgate.db.reserve')
const ballast = join(disk, 'ballast')
const headers = { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' }
const seen: Record<string, unknown> = {}

const ends: (() => unknown)[] = []

/** Null: it ended before it listened. */
async function start(): Promise<GatewayProcess | null> {
  const gateway = await GatewayProcess.launch({ teardown: (end) => ends.unshift(end) }, { folder })
  await gateway.listens().catch(() => process.stderr.write(gateway.log))
  return gateway.running ? gateway : null
}

async function end(gateway: GatewayProcess, signal: NodeJS.Signals): Promise<void> {
  gateway.signal(signal)
  await gateway.ended
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
  const gateway = await start()
  if (gateway === null) {
    seen[name] = 'it ended'
    return
  }
  const { origin } = gateway
  const permissions = Array.from({ length: 9000 }, (_, at) => `resource-${at}:read-and-write`)
  const seat = { name: `large ${name}`, spaces: [], permissions: permissions.slice(0, 1500) }
  const statuses: number[] = []
  const read = () => fetchConforming(`${origin}/v1/seats`, { headers })
  statuses.push((await served(read)).status)
  // More than fits into the released reserve.
  for (let write = 0; write < 12; write++) {
    const body = JSON.stringify({ ...seat, name: `${seat.name} ${write}` })
    statuses.push((await fetchConforming(`${origin}/v1/seats`, { method: 'POST', headers, body })).status)
  }
  statuses.push((await served(read)).status)
  const { status } = await served(() => gateway.ready())
  seen[name] = { first: statuses[0], lastWrite: statuses.at(-2), last: statuses.at(-1), ready: status }
  await end(gateway, name === 'ended' ? 'SIGTERM' : 'SIGKILL')
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
for (const tidy of ends) await tidy()
