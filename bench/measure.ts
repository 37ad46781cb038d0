/** One run: a fresh peer, warmed up, loaded at full speed, then at a fixed rate. */

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Ending } from './harness.ts'
import { type Latency, needsTls } from './load-settings.ts'
import type { Peer, RunningPeer } from './peers/peer.ts'
import type { Place } from './place.ts'
import { cpuOf, memoryOf } from './process-tree.ts'
import type { Requests } from './requests.ts'
import { Traffic } from './traffic.ts'
import type { Workload } from './workloads.ts'

export interface Job {
  readonly peer: Peer
  readonly workload: Workload
}

/** Seconds of each part. */
export interface Lengths {
  /** The maximum: the peer is warmed up for a second at a time, until `warming` requests are sent. */
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
  /** The latency at half of the rate; null: it was not measured. */
  readonly latency: Latency | null
}

export function measure(job: Job, requests: Requests, place: Place, lengths: Lengths): Promise<Sample> {
  return withPeer(job, place, (running) => run(running, job, requests, lengths))
}

/** Starts a fresh peer, ends it after its use, and removes its files. */
export async function withPeer<V>(
  { peer, workload }: Job,
  { world, upstreams, folder: parent }: Place,
  use: (running: RunningPeer) => Promise<V>,
): Promise<V> {
  await using ending = new Ending()
  const folder = mkdtempSync(join(parent, `${peer.name}-`))
  ending.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const { routes, workers, client } = workload
  const setup = { world, upstream: upstreams[workload.upstream], folder, routes, workers }
  return await use(await peer.start({ ...setup, tls: needsTls(client) }, ending))
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
