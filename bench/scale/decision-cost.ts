/**
 * The cost of a decision on a small store and on a large one: the same requests in turn, and the gateway's
 * own CPU. The machine is shared, so runs alternate, and each ratio is of two consecutive runs.
 */

import { inTurn } from '../plan.ts'
import { type ScaleGateway, sourcesBetween } from './gateway.ts'
import { type Request, send } from './requests.ts'
import { median } from '../statistics.ts'

const CONNECTIONS = 32
/**
 * Runs' worth of requests before the first one that counts, because code is still being compiled until then.
 */
const WARM_UP = 2
/**
 * Maximum share of the decisions in a run that may come from elsewhere than memory; beyond it the run
 * measures something else.
 */
const MOST_ELSEWHERE = 0.001

export interface Case {
  readonly name: string
  readonly gateway: ScaleGateway
  readonly requests: readonly Request[]
}

export interface Cost {
  readonly name: string
  /** CPU microseconds of the gateway a request, for each run. */
  readonly samples: readonly number[]
  readonly cpu: number
  /** Relative to the first case; median of the rounds. */
  readonly ratio: number
}

/**
 * @param cases each on a gateway of its own
 * @param total requests of a run
 */
export async function measureCosts(cases: readonly Case[], rounds: number, total: number): Promise<Cost[]> {
  const samples = cases.map(() => [] as number[])
  for (const each of cases) await run(each, Math.max(WARM_UP * total, each.requests.length))
  for (let round = 0; round < rounds; round++) {
    for (const [at, each] of inTurn([...cases.entries()], round))
      samples[at]?.push(await measureRun(each, total))
  }
  return cases.map(({ name }, i) => costOf(name, samples[i] ?? [], samples[0] ?? []))
}

async function measureRun(each: Case, total: number): Promise<number> {
  const sources = await each.gateway.sources()
  const cost = await run(each, total)
  const { redis, store } = sourcesBetween(sources, await each.gateway.sources())
  if (redis + store > total * MOST_ELSEWHERE)
    throw new Error(`${each.name}: ${redis} decisions took a Seat from Redis and ${store} from the store`)
  return cost
}

async function run({ gateway, requests }: Case, total: number): Promise<number> {
  const before = gateway.cpu()
  await send(gateway.url, { requests, total, connections: CONNECTIONS })
  return (gateway.cpu() - before) / total
}

function costOf(name: string, samples: readonly number[], first: readonly number[]): Cost {
  const ratios = samples.map((each, round) => each / (first[round] ?? Number.NaN))
  return { name, samples, cpu: median(samples), ratio: median(ratios) }
}
