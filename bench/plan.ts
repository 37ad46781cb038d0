/** What of all there is gets measured, and in which order. Pure; called by `run.ts`. */

export interface Named {
  readonly name: string
}

/** Beside the runs of peers on workloads. */
export const PARTS = ['turns', 'flood', 'neighbour', 'websockets', 'micro', 'curves'] as const
export type Part = (typeof PARTS)[number]

export interface Choice<P, W> {
  readonly peers: readonly P[]
  readonly workloads: readonly W[]
  readonly parts: readonly Part[]
}

interface WorkloadName extends Named {
  readonly quick: boolean
}

/**
 * Names of peers choose among the peers, those of workloads among the workloads; of the kind that none is named of, all
 * are taken. The first workload is the table's.
 *
 * @param only null: everything
 * @returns the names that nothing is called, where there are any
 */
export function choose<P extends Named, W extends WorkloadName>(
  peers: readonly P[],
  workloads: readonly W[],
  only: readonly string[] | null,
  quick: boolean,
): Choice<P, W> | readonly string[] {
  const all = [...peers, ...workloads].map(({ name }) => name).concat(PARTS)
  const unknown = (only ?? []).filter((name) => !all.includes(name))
  if (unknown.length > 0) return unknown
  const usual = quick ? workloads.filter((each) => each.quick) : workloads
  if (only === null) return { peers, workloads: usual, parts: PARTS }
  const named = <T extends Named>(list: readonly T[]) => list.filter(({ name }) => only.includes(name))
  const parts = PARTS.filter((part) => only.includes(part))
  const [somePeers, someWorkloads] = [named(peers), named(workloads)]
  if (somePeers.length + someWorkloads.length === 0) return { peers, workloads: [], parts }
  return {
    peers: somePeers.length > 0 ? somePeers : peers,
    workloads: someWorkloads.length > 0 ? someWorkloads : workloads.slice(0, 1),
    parts,
  }
}

/** Each round the other way round: what drifts while it is measured drifts for all. */
export function inTurn<T>(list: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? list : list.toReversed()
}
