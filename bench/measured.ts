/** The results of a run, for the report and the picture. */

import type { Curves } from './curves/measure.ts'
import type { Flood } from './flood.ts'
import type { StageCost } from './micro/stages.ts'
import type { Neighbour } from './neighbour/measure.ts'
import type { Peer } from './peers/peer.ts'
import type { Result } from './rounds.ts'
import type { Turns } from './turns.ts'
import type { Workload } from './workloads.ts'

export interface Measured {
  readonly machine: string
  readonly quick: boolean
  readonly rounds: number
  readonly upstream: string
  /** Load averages of the last minute, before and after. */
  readonly load: readonly [number, number]
  readonly peers: readonly Peer[]
  readonly workloads: readonly Workload[]
  /** The workload of the table of peers. */
  readonly table: string
  readonly results: readonly Result[]
  /** Excluded peers, and the reasons. */
  readonly left: readonly string[]
  readonly turns: readonly Turns[]
  readonly floods: readonly Flood[]
  readonly neighbours: readonly Neighbour[]
  readonly stages: readonly StageCost[]
  readonly curves: Curves | null
}
