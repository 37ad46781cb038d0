/** The selection of measurements, and their order. Pure functions. */

export interface Named {
  readonly name: string
}

/** The parts in addition to the runs of peers on workloads. */
export const PARTS = ['turns', 'flood', 'neighbour', 'micro', 'curves'] as const
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
 * Names of peers select among the peers, and those of workloads among the workloads; a kind without a
 * selection runs whole. The first workload is the table's.
 *
 * @param only null: everything
 * @returns the selection, or the unknown names
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

/**
 * Returns the list in the order of a round: each round reverses the order, so that a drift affects all alike.
 */
export function inTurn<T>(list: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? list : list.toReversed()
}
