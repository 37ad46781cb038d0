/** One run: a fresh peer, warmed up, loaded as hard as it goes, then at a fixed rate. Called by `rounds.ts`. */

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Load, type Loaded, saturate } from './load.ts'
import { atRate, type Latency } from './open-loop.ts'
import type { RunningPeer } from './peers/peer.ts'
import { cpuOf, memoryOf } from './process-tree.ts'
import type { Job } from './rounds.ts'
import type { Upstreams } from './upstreams.ts'
import type { RunRequests, Workload } from './workloads.ts'
import type { World } from './world.ts'

export const CONNECTIONS = 64
/** Requests that warm a peer up: by then, what is compiled as it runs has been (Seatgate: 40, 27, 26, 24, 24, 24 µs by 40,000). */
const WARM = 200_000
/** Seconds of requests that may be sent once. */
const ONCE = 3

/** Seconds of each part. */
export interface Lengths {
  /** At most: a second at a time, until there have been enough requests. */
  readonly warmUp: number
  readonly saturated: number
  /** 0: no latency is measured. */
  readonly rated: number
}

export interface Sample {
  /** CPU microseconds a request, of the peer's whole tree of processes. */
  readonly cpu: number
  /** Requests a second at saturation. */
  readonly rate: number
  /** Bytes, before any request and after the load. */
  readonly idle: number
  readonly loaded: number
  readonly startedIn: number
  /** At half of the rate; null where it was not measured. */
  readonly latency: Latency | null
}

export interface Place {
  readonly world: World
  readonly upstreams: Upstreams
  readonly folder: string
}

export function measure(job: Job, requests: RunRequests, place: Place, lengths: Lengths): Promise<Sample> {
  return withPeer(job, place, (running) => run(running, job.workload, requests, lengths))
}

/** Starts a fresh one, and ends it and all that it wrote, whatever happens. */
export async function withPeer<V>(
  { peer, workload }: Job,
  { world, upstreams, folder: parent }: Place,
  use: (running: RunningPeer) => Promise<V>,
): Promise<V> {
  const folder = mkdtempSync(join(parent, `${peer.name}-`))
  const { routes, workers } = workload
  const upstream = workload.tls ? upstreams.tls : upstreams.plain
  try {
    const running = await peer.start({ world, upstream, folder, routes, workers })
    try {
      return await use(running)
    } finally {
      await running.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function run(
  { port, pids, startedIn }: RunningPeer,
  work: Workload,
  requests: RunRequests,
  lengths: Lengths,
): Promise<Sample> {
  const idle = memoryOf(pids)
  const common = { port, connections: CONNECTIONS, workers: work.workers }
  await warmUp({ ...common, requests: requests.warmUp, seconds: 1 }, lengths.warmUp)
  const load = { ...common, requests: requests.measured, seconds: lengths.saturated }
  const before = cpuOf(pids)
  const loaded = await saturate(load)
  const cpu = (cpuOf(pids) - before) / loaded.requests
  assertAnswers(work, loaded)
  const memory = memoryOf(pids)
  const { rate } = loaded
  return {
    cpu,
    rate,
    idle,
    loaded: memory,
    startedIn,
    latency: await latencyAt(rate / 2, load, lengths.rated),
  }
}

export async function warmUp(load: Load, most: number): Promise<void> {
  // Each only once: then it can't begin anew.
  if (load.requests.once) return void (await saturate({ ...load, seconds: ONCE }))
  let asked = 0
  for (let second = 0; second < most && asked < WARM; second++) asked += (await saturate(load)).requests
}

async function latencyAt(rate: number, load: Load, seconds: number): Promise<Latency | null> {
  if (seconds === 0 || load.requests.once) return null
  const latency = await atRate({ ...load, seconds, rate })
  const { refused, failed } = latency
  if (refused + failed > 0)
    throw new Error(`at half of its rate ${refused} were refused and ${failed} failed`)
  return latency
}

/** Throws where they are not those that are due. */
export function assertAnswers({ expected }: Workload, { requests, refused, failed }: Loaded): void {
  const wrong = expected === 200 ? refused : requests - refused
  if (requests === 0) throw new Error('nothing was answered')
  if (wrong + failed > 0) throw new Error(`of ${requests} answers ${wrong} were wrong, and ${failed} failed`)
}
