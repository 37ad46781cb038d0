/**
 * `node bench/ablation.ts --part PART [--rounds N] [--seconds N] [--slice MS] [--warm-up SECONDS] [--workload
 * NAME]`: the cost that a part of the gateway adds to each request. One process leaves the part out in every
 * other slice of time. Prints Markdown.
 *
 * Short slices tell the smallest costs apart. The garbage of one slice is collected in the next ones too: for
 * a part that keeps something, compare with slices of some seconds.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { settingsOf } from './configured-parts.ts'
import { withPeer } from './measure.ts'
import { seatgateBy } from './peers/seatgate.ts'
import { openPlace, type Place } from './place.ts'
import { machine } from './results.ts'
import { RequestsOf } from './rounds.ts'
import { type Ending, runBench, temporaryFolder } from './harness.ts'
import { median, medianInterval } from './statistics.ts'
import { PARTS } from './servers/ablated-parts.ts'
import type { Slice } from './servers/seatgate-ablated.ts'
import { Traffic } from './traffic.ts'
import { type Workload, workloads } from './workloads.ts'
import type { ConfiguredPart } from './world.ts'

const SERVER = fileURLToPath(new URL('./servers/seatgate-ablated.ts', import.meta.url))
const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
    slice: { type: 'string', default: '250' },
    'warm-up': { type: 'string', default: '15' },
    workload: { type: 'string', default: 'mixed' },
  },
})

await runBench(main)

async function main(ending: Ending): Promise<void> {
  const part = values.part
  if (!PARTS.has(part)) throw new Error(`--part takes one of ${[...PARTS.keys()].join(', ')}`)
  const workload = workloads.find(({ name }) => name === values.workload)
  if (workload === undefined) throw new Error(`no workload is called ${values.workload}`)
  const folder = temporaryFolder(ending, 'ablation')
  const place = await openPlace(ending, folder)
  console.log(`${machine()}\n`)
  console.log(
    `| workload | CPU per request without ${part} | with / without | 95 % interval | pairs of slices |`,
  )
  console.log('|---|---|---|---|---|')
  const settings = await settingsOf(part, folder, ending)
  const slices: Slice[] = []
  for (let round = 0; round < Number(values.rounds); round++)
    slices.push(...(await slicesOf(part, settings, workload, place)))
  console.log(rowOf(workload.label, slices))
}

/** Returns the slices of one fresh process under load, after its warm-up. */
async function slicesOf(
  part: string,
  settings: ConfiguredPart | undefined,
  workload: Workload,
  place: Place,
): Promise<Slice[]> {
  const output = join(place.folder, 'slices.json')
  const peer = seatgateBy('seatgate-ablated', [SERVER, part, values.slice, output], settings)
  const requests = new RequestsOf(place).of({ peer, workload })
  const seconds = Number(values.seconds)
  await withPeer({ peer, workload }, place, async ({ port }) => {
    const traffic = new Traffic({ port, requests, authorises: true, workers: workload.workers })
    await traffic.warmUp(Number(values['warm-up']))
    await traffic.saturate(seconds)
  })
  const all = JSON.parse(readFileSync(output, 'utf8')) as Slice[]
  // Without the warm-up, and without both ends of the load.
  return all
    .filter(({ requests }) => requests > 0)
    .slice(2 - Math.floor((1000 * seconds) / Number(values.slice)), -1)
}

/**
 * Returns the row of the table. Each slice with the part is compared with the mean of the slices before and
 * after it, so that a steady drift cancels out.
 */
function rowOf(label: string, slices: readonly Slice[]): string {
  const costOf = ({ requests, cpu }: Slice) => cpu / requests
  const ratios = slices.flatMap((slice, at) => {
    const [before, after] = [slices[at - 1], slices[at + 1]]
    if (!slice.isWhole || before?.isWhole !== false || after?.isWhole !== false) return []
    return [(2 * costOf(slice)) / (costOf(before) + costOf(after))]
  })
  const without = slices.filter(({ isWhole }) => !isWhole).map(costOf)
  const [low, high] = medianInterval(ratios)
  const interval = `${low.toFixed(3)} to ${high.toFixed(3)}`
  return `| ${label} | ${median(without).toFixed(1)} µs | ${median(ratios).toFixed(3)} | ${interval} | ${ratios.length} |`
}
