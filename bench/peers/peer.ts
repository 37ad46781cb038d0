/** What the bench measures: a proxy that is started afresh for each run. Every other file of this folder is one of them. */

import type { Upstream } from '../upstreams.ts'
import type { World } from '../world.ts'

export interface Setup {
  readonly world: World
  readonly upstream: Upstream
  /** Empty, and gone after the run. */
  readonly folder: string
  /** Of Seatgate's route table; the others have none. */
  readonly routes: number
  /** Cores that it may use. */
  readonly workers: number
}

export interface RunningPeer {
  readonly port: number
  /** Its processes, without their descendants. */
  readonly pids: readonly number[]
  /** Milliseconds from the start to connections accepted. */
  readonly startedIn: number
  stop(): Promise<void>
}

export interface Peer {
  /** As `--only` takes it. */
  readonly name: string
  /** In the table. */
  readonly label: string
  /** Whether it looks at tokens: it must then turn bad ones away. */
  readonly authorises: boolean
  /** It knows API keys; a workload has tokens in their place for those that do not. */
  readonly apiKeys?: boolean
  /** Null: it can be started. Otherwise how to get it. */
  available(): string | null
  /** Rejects, with nothing left running. */
  start(setup: Setup): Promise<RunningPeer>
}
