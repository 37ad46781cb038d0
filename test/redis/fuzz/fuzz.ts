/**
 * Fuzzes running gateways through their Redis. Requests for uncached Seats, and writes, make them use Redis. Each
 * request must be answered from the store, by the process that was started.
 */

import type { Test } from 'tap'
import { type Fleet, startFleet } from '../../fleet/fleet.ts'
import type { FleetGateway } from '../../fleet/gateway.ts'
import { memoryOf } from '../../operations/process-status.ts'
import { adminRequest, Client } from '../../support/client.ts'
import { Random } from '../../support/random.ts'
import { CERTIFICATES } from '../../support/servers/tls.ts'
import { HostileRedis, type ReplaceReply } from './hostile-redis.ts'
import { hostileReply } from './replies.ts'

/** The Redis modes. */
const URLS = [
  (port: number) => `redis://127.0.0.1:${port}`,
  (port: number) => `rediss://127.0.0.1:${port}?ca=${CERTIFICATES.files.ca}`,
  (port: number) => `redis+sentinel://127.0.0.1:${port}/main`,
  (port: number) => `redis+cluster://127.0.0.1:${port}`,
]

/**
 * One gateway for each Redis mode, each with its own hostile Redis.
 *
 * @param replaceReply replaces replies from the first command on
 */
export async function startModes(t: Test, replaceReply: ReplaceReply) {
  const servers = await Promise.all(URLS.map((url) => HostileRedis.start(t, url(0).startsWith('rediss:'))))
  for (const server of servers) server.replaceReply = replaceReply
  const urls = servers.map(({ port }, at) => URLS[at]?.(port) ?? '')
  const fleet = await startFleet(t, { gateways: urls.length, redis: { urls }, proxies: [] })
  const { name: viewer } = await fleet.makeSeat(fleet.first, 'Viewer')
  return { fleet, servers, viewer }
}

interface Found {
  requests: number
  writes: number
  /** Wrong answers. */
  readonly faults: string[]
  /** Bytes of memory at the peak, beyond the memory before the fuzz. */
  grown: number
}

interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** The name of a Seat that may list trainings. */
  readonly viewer: string
}

/** Headers and body. */
type RequestParts = readonly [headers: Record<string, string>, body?: string]

/** Of a request that is answered 503. */
const ATTEMPTS = 3

/** Sends parallel requests, and one write at a time, until Redis has sent `cases` hostile replies. */
export async function fuzz(
  fleet: Fleet,
  gateway: FleetGateway,
  redis: HostileRedis,
  { cases, seed, viewer }: FuzzOptions,
): Promise<Found> {
  const random = new Random(seed)
  const found: Found = { requests: 0, writes: 0, faults: [], grown: 0 }
  const { pid } = gateway
  const before = memoryOf(pid)
  const client = new Client(gateway.port, 8)
  const end = redis.hostile + cases
  const repeat = async (method: string, path: string, request: () => Promise<RequestParts>) => {
    while (redis.hostile < end && gateway.crash === null && found.faults.length < 5) {
      const fault = await faultOf(client, method, path, request)
      if (fault !== null) found.faults.push(fault)
    }
  }
  const read = () =>
    repeat('GET', '/v1/trainings', async () => {
      const seats = [`s1:never met ${gateway.name} ${found.requests++}`, `s1:${viewer}`]
      return [{ authorization: `Bearer ${await fleet.token(seats)}`, space: 's1' }]
    })
  // Another Seat each time: a write that the store answered too late may have taken effect.
  const write = () =>
    repeat('POST', '/v1/seats', async () => {
      const name = `written ${gateway.name} ${found.writes++}`
      return adminRequest(fleet.key, { name, spaces: ['s1'], permissions: ['a:b'] })
    })
  // Most replies are correct, so that clients reach their later commands.
  redis.replaceReply = (_command, correct) => (random.once(6) ? hostileReply(random, correct) : null)
  try {
    await Promise.all([read(), read(), read(), read(), write()])
  } finally {
    redis.replaceReply = () => null
    client.close()
  }
  if (gateway.crash === null) found.grown = (memoryOf(pid, 'VmHWM') - before) * 1024 * 1024
  else found.faults.push(`ended: ${gateway.crash}`)
  return found
}

/** Anything but a 200. */
async function faultOf(
  client: Client,
  method: string,
  path: string,
  request: () => Promise<RequestParts>,
): Promise<string | null> {
  try {
    let answer = await client.send(method, path, ...(await request()))
    // The store has two seconds for an answer, which a busy machine may exceed now and then, but not three times.
    for (let attempt = 1; answer.status === 503 && attempt < ATTEMPTS; attempt++)
      answer = await client.send(method, path, ...(await request()))
    return answer.status === 200 ? null : `${method} ${path}: ${answer.status} ${answer.body}`
  } catch (cause) {
    return `${method} ${path}: ${String(cause)}`
  }
}
