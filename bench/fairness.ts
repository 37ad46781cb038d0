/**
 * `node bench/fairness.ts [--rounds N] [--seconds N] [--warm-up SECONDS]`: whether one caller far above its
 * rate limit delays others. These send 500 requests per second, alone, beside a caller that sends five times
 * its limit, and beside one that sends as fast as it can. The program of the flood has the lowest priority,
 * as it shares cores with the program that measures, and its own work must not delay that. HAProxy with a
 * rate limit, if it is installed, takes turns with Seatgate: it shows how far the same flood delays others
 * there. Prints Markdown: the latency of the others, and what passed of the flood against what its limit
 * allows.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Latency } from './load-settings.ts'
import { atRate, loader, saturate } from './load.ts'
import { withPeer } from './measure.ts'
import { SPACE, seatName } from './names.ts'
import { haproxyLimited } from './peers/haproxy.ts'
import type { Peer } from './peers/peer.ts'
import { seatgateWith } from './peers/seatgate.ts'
import { openPlace, type Place } from './place.ts'
import { type Requests, writeRequests } from './requests.ts'
import { machine } from './results.ts'
import { type Ending, runBench, temporaryFolder } from './harness.ts'
import { median } from './statistics.ts'
import { CONNECTIONS } from './traffic.ts'
import { oneToken } from './workloads.ts'
import { token, type World } from './world.ts'

/** Requests per second of the others together, their number and connections. */
const RATE = 500
const OTHERS = 50
const CONNECTIONS_OF_OTHERS = 16
/** Requests per second of each caller, and its burst. */
const LIMIT = 200
const BURST = 20

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '4' },
  },
})
const [rounds, seconds, warmUp] = [Number(values.rounds), Number(values.seconds), Number(values['warm-up'])]

interface Flood {
  /** Requests, how many passed, and how many its limit allows in the time that it took. */
  readonly requests: number
  readonly passed: number
  readonly allowed: number
}

interface Row {
  readonly others: Latency
  readonly flood: Flood | null
}

const LABELS = ['alone', `beside five times the limit`, 'beside as many as it can']

await runBench(main)

async function main(ending: Ending): Promise<void> {
  const place = await openPlace(ending, temporaryFolder(ending, 'fairness'))
  const measured = peers().map((peer) => ({ peer, rows: LABELS.map((): Row[] => []) }))
  for (let round = 0; round < rounds; round++)
    for (const { peer, rows } of measured)
      for (const [at, row] of (await rowsOf(peer, place)).entries()) rows[at]?.push(row)
  print(measured)
}

function peers(): Peer[] {
  const limited = seatgateWith('limited', 'Seatgate', {
    top: [`rate_limits: { each: { limit: ${LIMIT}/s, burst: ${BURST}, per: caller } }`],
    table: ['rate_limit: [each]'],
  })
  return [limited, haproxyLimited(LIMIT)].filter((peer) => peer.available() === null)
}

function rowsOf(peer: Peer, place: Place): Promise<Row[]> {
  const { world, folder } = place
  const others = requestsOf(world, folder, 'others', OTHERS)
  const flood = requestsOf(world, folder, 'flood', 1)
  return withPeer({ peer, workload: oneToken }, place, async ({ port }) => {
    const common = { client: 'http1', port, from: 0, countStatuses: false, workers: 1, seconds } as const
    const ofOthers = { ...common, requests: others, connections: CONNECTIONS_OF_OTHERS }
    const ofFlood = { ...common, requests: flood, connections: CONNECTIONS, background: true }
    await saturate({ ...ofFlood, seconds: warmUp })
    await saturate({ ...ofOthers, seconds: warmUp })
    await sleep(1000)
    const measure = async () => {
      const latency = await atRate({ ...ofOthers, rate: RATE })
      if (latency.refused + latency.failed > 0)
        throw new Error(
          `${latency.refused} requests of the others were refused, and ${latency.failed} failed`,
        )
      return latency
    }
    // The flood begins before the others and ends after them.
    const beside = async (flooding: Promise<Flood>): Promise<Row> => {
      await sleep(1000)
      const latency = await measure()
      return { others: latency, flood: await flooding }
    }
    const longer = { ...ofFlood, seconds: seconds + 2 }
    const fiveTimes = () => floodOf(() => atRate({ ...longer, rate: LIMIT * 5 }))
    const asFast = () => floodOf(() => saturate(longer))
    return [{ others: await measure(), flood: null }, await beside(fiveTimes()), await beside(asFast())]
  })
}

/** Sends the flood. Its time includes the start of the client, so that the limit never allows more. */
async function floodOf(
  send: () => Promise<{ readonly requests: number; readonly refused: number }>,
): Promise<Flood> {
  const begun = performance.now()
  const { requests, refused } = await send()
  const allowed = BURST + (LIMIT * (performance.now() - begun)) / 1000
  return { requests, passed: requests - refused, allowed }
}

function requestsOf(world: World, folder: string, name: string, users: number): Requests {
  const all = Array.from({ length: users }, (_, i) => {
    const bearer = token(world, { user: `${name}-${i}`, hashPerm: [`${SPACE}:${seatName(i)}`] })
    return { path: '/v1/trainings/7', headers: [`Space: ${SPACE}`, `Authorization: Bearer ${bearer}`] }
  })
  return writeRequests(folder, name, all)
}

interface Measured {
  readonly peer: Peer
  /** The rows of all rounds, for each label. */
  readonly rows: readonly (readonly Row[])[]
}

function print(measured: readonly Measured[]): void {
  const flood = loader === 'wrk' ? loader : `${loader}, which cannot have the lowest priority`
  console.log(
    `${machine()}; ${RATE} requests per second of ${OTHERS} callers, ${rounds} rounds; flood by ${flood}\n`,
  )
  console.log(
    '| proxy | others | p50 | p99 | p99 / alone | load late by | requests of the flood | passed | allowed at most |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|')
  for (const { peer, rows } of measured)
    for (const cells of cellsOf(rows)) console.log(`| ${[peer.label, ...cells].join(' | ')} |`)
}

function cellsOf(measured: Measured['rows']): string[][] {
  const of = (rows: readonly Row[], value: (row: Row) => number) => median(rows.map(value))
  const alone = of(measured[0] ?? [], ({ others }) => others.p99)
  return measured.map((rows, at) => {
    const p99 = of(rows, ({ others }) => others.p99)
    const ofFlood = (value: (flood: Flood) => number) =>
      at === 0 ? '' : of(rows, ({ flood }) => (flood === null ? 0 : value(flood))).toFixed(0)
    return [
      LABELS[at] ?? '',
      `${of(rows, ({ others }) => others.p50).toFixed(2)} ms`,
      `${p99.toFixed(2)} ms`,
      (p99 / alone).toFixed(2),
      `${of(rows, ({ others }) => others.late).toFixed(2)} ms`,
      ofFlood(({ requests }) => requests),
      ofFlood(({ passed }) => passed),
      ofFlood(({ allowed }) => allowed),
    ]
  })
}
