/** The memory of a connection, a cached token and a Seat in use. */

import { once } from 'node:events'
import { join } from 'node:path'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { SeatQuestion } from '../../src/model/decision-seat.ts'
import { BearerTokens } from '../../src/decision/authn/bearer.ts'
import { withPeer } from '../measure.ts'
import type { Place } from '../place.ts'
import { Subject } from '../micro/subject.ts'
import { seatgate } from '../peers/seatgate.ts'
import { memoryOf } from '../process-tree.ts'
import { oneToken } from '../workloads.ts'
import { SEATS, SPACE, seatName, TENANT } from '../names.ts'
import { token } from '../world.ts'

const CONNECTIONS = 2000
const TOKENS = 10_000

export interface MemoryCost {
  readonly label: string
  readonly bytes: number
}

export async function memoryCosts(place: Place): Promise<MemoryCost[]> {
  return [
    { label: `a client's connection, after a request: ${CONNECTIONS}`, bytes: await ofConnections(place) },
    ...(await inProcess(place)),
  ]
}

/** The bytes of a connection in the process as a whole, including Node.js and the kernel's share. */
function ofConnections(place: Place): Promise<number> {
  return withPeer({ peer: seatgate, workload: oneToken }, place, async ({ port, pids }) => {
    const text = `GET /v1/trainings/7 HTTP/1.1\r\nHost: gw\r\nSpace: ${SPACE}\r\nAuthorization: Bearer ${token(place.world)}\r\n\r\n`
    const sockets: Socket[] = []
    const open = async (count: number) => {
      for (let i = 0; i < count; i++) sockets.push(await openAnswered(port, text))
    }
    // One-time loading does not count as memory of a connection.
    await open(200)
    const before = memoryOf(pids)
    await open(CONNECTIONS)
    const taken = memoryOf(pids) - before
    for (const socket of sockets) socket.destroy()
    return taken / CONNECTIONS
  })
}

async function openAnswered(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  await once(socket, 'data')
  return socket
}

async function inProcess({ world, folder }: Place): Promise<MemoryCost[]> {
  const subject = await Subject.open(world, join(folder, 'memory'), { routes: 10 })
  try {
    const { tenants, defaultTenant } = subject.config
    const tokens = new BearerTokens({ tenants, defaultTenant, now: Date.now, memory: 2 ** 30 })
    const line = (i: number) => `Bearer ${token(world, { user: `user-${i}` })}`
    const { memory } = subject.decisionPoint
    const query = new SeatQuestion(SPACE, 'trainings:list')
    const ofToken = await grownBy(TOKENS, async (i) => void (await tokens.authenticate(line(i))))
    const ofSeat = await grownBy(
      SEATS,
      async (i) => void (await memory.seatByName(TENANT, seatName(i), query)),
    )
    await tokens.authenticate(line(0))
    return [
      { label: `a remembered token of ${line(0).length - 7} characters`, bytes: ofToken },
      { label: 'a Seat in use, of 2 spaces and 3 permissions', bytes: ofSeat },
    ]
  } finally {
    await subject.close()
  }
}

/** The reachable bytes of the heap for each of `count` values. */
async function grownBy(count: number, make: (number: number) => Promise<void>): Promise<number> {
  await make(0)
  const before = await reachable()
  for (let i = 1; i < count; i++) await make(i)
  return ((await reachable()) - before) / (count - 1)
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The reachable bytes of the heap. Garbage, such as ended worker threads, is collected first. */
async function reachable(): Promise<number> {
  for (let turn = 0; turn < 5; turn++) {
    collect()
    await sleep(20)
  }
  return process.memoryUsage().heapUsed
}
