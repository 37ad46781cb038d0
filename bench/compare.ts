/**
 * `npm run bench -- --compare REV [--rounds N] [--only NAME[,NAME]] [--threshold T] [--instructions]`: the
 * regression guard. Another revision of Seatgate and this tree in turn, and the ratio of their CPU per
 * request for each workload, or of their instructions.
 *
 * Two processes of the same code differ by up to a tenth, for as long as they run. Each round therefore has
 * fresh processes and counts as one value, whatever its number of turns, and the interval is computed from
 * the rounds.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bindThisProcess } from './cores.ts'
import type { Place } from './place.ts'
import { InstructionCounter } from './instructions/counter.ts'
import { seatgateOf } from './peers/seatgate.ts'
import type { Peer } from './peers/peer.ts'
import { inTurn } from './plan.ts'
import { RequestsOf } from './rounds.ts'
import { type Ending, onEnd, temporaryFolder } from './harness.ts'
import { median, medianInterval } from './statistics.ts'
import { costsByTurns, type Side } from './turns.ts'
import { startUpstreams } from './upstreams.ts'
import { type Workload, workloads } from './workloads.ts'
import { makeWorld } from './world.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Turns of a round. */
const TURNS = 3

export interface CompareSetup {
  /** Names of workloads; null: the usual ones. */
  readonly only: readonly string[] | null
  readonly quick: boolean
  readonly rounds: number
  /** Whether instructions are counted in place of CPU time: see `instructions/counter.ts`. */
  readonly instructions: boolean
  /** The permitted cost of a workload as a multiple of the base's. */
  readonly threshold: number
}

/** One revision, with a store that its own code has made. */
interface Revision {
  readonly peer: Peer
  readonly place: Place
}

export interface Comparison {
  readonly workload: string
  /** The median of the rounds, and its 95 % interval. */
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly verdict: Verdict
}

/** `undecided`: the interval includes the threshold. More rounds make it narrower. */
export type Verdict = 'slower' | 'undecided' | 'not slower'

/** Returns the exit code: 1 if a workload got slower. Rejects if they cannot be compared. */
export async function compare(ending: Ending, revision: string, setup: CompareSetup): Promise<number> {
  const names = workloads.map(({ name }) => name)
  const unknown = (setup.only ?? []).filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw new Error(`no workload is called ${unknown.join(', ')}; there are ${names.join(', ')}`)
  const folder = temporaryFolder(ending, 'compare')
  const counter = setup.instructions ? new InstructionCounter(folder) : null
  const [base, branch] = await sidesOf(revision, folder, ending, counter)
  const what = counter === null ? 'CPU' : 'instructions'
  console.log(
    `| workload | this tree / ${revision}, ${what} per request | 95 % interval of ${setup.rounds} rounds | by ${setup.threshold} |`,
  )
  console.log('|---|---|---|---|')
  let isSlower = false
  for (const workload of workloads.filter(({ name, quick }) => setup.only?.includes(name) ?? quick)) {
    const comparison = await compareOn(workload, base, branch, setup, counter)
    console.log(lineOf(comparison))
    isSlower ||= comparison.verdict === 'slower'
  }
  return isSlower ? 1 : 0
}

async function compareOn(
  workload: Workload,
  base: Revision,
  branch: Revision,
  { quick, rounds, threshold }: CompareSetup,
  counter: InstructionCounter | null,
): Promise<Comparison> {
  const sides = [base, branch].map(({ peer, place }) => ({
    peer,
    place,
    requests: new RequestsOf(place).of({ peer, workload }),
  }))
  const setup = { workload, rounds: 1, warmUp: quick ? 4 : 8, turns: TURNS }
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    // The side that starts first waits for the warm-up of the other.
    const ordered = inTurn(sides, round)
    const costs = await (counter === null
      ? costsByTurns(ordered, setup)
      : instructionsOf(ordered, workload, counter))
    const [before = [], after = []] = inTurn(costs, round)
    ratios.push(median(after.map((cost, turn) => cost / (before[turn] ?? Number.NaN))))
  }
  return comparisonOf(workload.label, ratios, threshold)
}

/** Counts one side after the other, because the count does not depend on the time. */
async function instructionsOf(
  sides: readonly Side[],
  workload: Workload,
  counter: InstructionCounter,
): Promise<number[][]> {
  const counts: number[][] = []
  for (const side of sides) counts.push([await counter.perRequest(side, workload)])
  return counts
}

export function comparisonOf(workload: string, ratios: readonly number[], threshold: number): Comparison {
  const [low, high] = medianInterval(ratios)
  return { workload, ratio: median(ratios), low, high, verdict: verdictOf(low, high, threshold) }
}

function verdictOf(low: number, high: number, threshold: number): Verdict {
  if (low > threshold) return 'slower'
  return high > threshold ? 'undecided' : 'not slower'
}

function lineOf({ workload, ratio, low, high, verdict }: Comparison): string {
  return `| ${workload} | ${ratio.toFixed(3)} | ${low.toFixed(3)} to ${high.toFixed(3)} | ${verdict} |`
}

async function sidesOf(
  revision: string,
  folder: string,
  ending: Ending,
  counter: InstructionCounter | null,
): Promise<[base: Revision, branch: Revision]> {
  const before = checkOut(revision, join(folder, 'tree'), ending)
  bindThisProcess()
  const upstreams = await startUpstreams(ending, join(folder, 'upstream'))
  const side = async (name: string, source: string): Promise<Revision> => {
    const peer = seatgateOf(source, name, counter?.runner(name))
    const own = join(folder, name)
    mkdirSync(own)
    const world = await makeWorld(join(own, 'world'), pathToFileURL(`${source}/`))
    return { peer, place: { folder: own, world, upstreams } }
  }
  return [await side('base', before), await side('branch', root)]
}

/**
 * Makes a work tree of the revision, with the packages of this one. Nothing of it remains in the repository.
 */
function checkOut(revision: string, folder: string, ending: Ending): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  onEnd(ending, () => {
    if (existsSync(folder)) git('worktree', 'remove', '--force', folder)
    git('worktree', 'prune')
  })
  git('worktree', 'add', '--detach', folder, revision)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
