/**
 * A peer of the benchmark: a proxy that is started afresh for each run. Every other file of this folder is
 * one.
 */

import type { Ending } from '../harness.ts'
import type { Upstream } from '../upstreams.ts'
import type { World } from '../world.ts'

export interface Setup {
  readonly world: World
  readonly upstream: Upstream
  /** Empty, and removed after the run. */
  readonly folder: string
  /** Entries of Seatgate's route table; the others have none. */
  readonly routes: number
  /** Cores that it may use. */
  readonly workers: number
  /** Whether it listens with TLS, and offers HTTP/2 and HTTP/1.1 by ALPN; otherwise with HTTP/1.1 only. */
  readonly tls: boolean
}

export interface RunningPeer {
  readonly port: number
  /** Its processes, without their descendants. */
  readonly pids: readonly number[]
  /** Milliseconds from the start until it accepts connections. */
  readonly startedIn: number
}

export interface Peer {
  /** Its name for `--only`. */
  readonly name: string
  /** Its row in the table. */
  readonly label: string
  /** Whether it checks tokens: it must then refuse invalid ones. */
  readonly authorises: boolean
  /** Whether it supports API keys; for other peers a workload has tokens instead. */
  readonly apiKeys?: boolean
  /** Null: it can be started. Otherwise how to install it. */
  available(): string | null
  /** Starts the peer, which runs until the ending. */
  start(setup: Setup, ending: Ending): Promise<RunningPeer>
}
