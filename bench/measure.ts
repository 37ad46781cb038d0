/** One run: a fresh peer, warmed up, loaded at full speed, then at a fixed rate. */

import type { Peer } from './peers/peer.ts'
import type { Workload } from './workloads.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Latency } from './latency.ts'
import type { RunningPeer } from './peers/peer.ts'
import { cpuOf, memoryOf } from './process-tree.ts'
import type { Requests } from './requests.ts'
import { Traffic } from './traffic.ts'
import type { Upstreams } from './upstreams.ts'
import type { World } from './world.ts'

export interface Job {
  readonly peer: Peer
  readonly workload: Workload
}

/** Seconds of each part. */
export interface Lengths {
  /** Maximum: one second at a time, until `warming` requests are sent. */
  readonly warmUp: number
  /** Requests. */
  readonly warming: number
  readonly saturated: number
  /** 0: no latency is measured. */
  readonly rated: number
}

export interface Sample {
  /** Requests before the first measured one. */
  readonly warmed: number
  /** CPU microseconds per request, of the peer's whole process tree. */
  readonly cpu: number
  /** Requests per second at saturation. */
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

export function measure(job: Job, requests: Requests, place: Place, lengths: Lengths): Promise<Sample> {
  return withPeer(job, place, (running) => run(running, job, requests, lengths))
}

/** Starts a fresh peer, and always stops it and removes its files. */
export async function withPeer<V>(
  { peer, workload }: Job,
  { world, upstreams, folder: parent }: Place,
  use: (running: RunningPeer) => Promise<V>,
): Promise<V> {
  const folder = mkdtempSync(join(parent, `${peer.name}-`))
  const { routes, workers, client } = workload
  const upstream = upstreams[workload.upstream]
  try {
    const running = await peer.start({ world, upstream, folder, routes, workers, tls: client !== 'http1' })
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
  { peer, workload }: Job,
  requests: Requests,
  lengths: Lengths,
): Promise<Sample> {
  const idle = memoryOf(pids)
  const { authorises } = peer
  const traffic = new Traffic({
    port,
    requests,
    authorises,
    workers: workload.workers,
    client: workload.client,
  })
  const warmed = await traffic.warmUp(lengths.warmUp, lengths.warming)
  const before = cpuOf(pids)
  const { requests: answered, rate } = await traffic.saturate(lengths.saturated)
  const cpu = (cpuOf(pids) - before) / answered
  const loaded = memoryOf(pids)
  const isRated = lengths.rated > 0 && workload.client === 'http1'
  const latency = !isRated ? null : await traffic.atRate(rate / 2, lengths.rated)
  return { warmed, cpu, rate, idle, loaded, startedIn, latency }
}
