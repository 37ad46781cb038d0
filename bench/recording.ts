/**
 * `node bench/recording.ts [--rounds N] [--seconds N] [--warm-up SECONDS] [--workload NAME]`: the cost of what each request leaves
 * for the console, which are the newest decisions and the uses of routes. One process records them in every other slice of time.
 * Prints Markdown.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { bindThisProcess, peerCores } from './cores.ts'
import { type Place, withPeer } from './measure.ts'
import { runningOf } from './peers/node-program.ts'
import type { Peer } from './peers/peer.ts'
import { openPlace, temporaryFolder } from './place.ts'
import { freePort, Program } from './program.ts'
import { machine } from './results.ts'
import { RequestsOf } from './rounds.ts'
import { Ending } from './scale/ending.ts'
import { median, medianInterval } from './scale/statistics.ts'
import type { Slice } from './servers/seatgate-recording.ts'
import { Traffic } from './traffic.ts'
import { type Workload, workloads } from './workloads.ts'
import { writeConfiguration } from './world.ts'

const SERVER = fileURLToPath(new URL('./servers/seatgate-recording.ts', import.meta.url))
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
    'warm-up': { type: 'string', default: '15' },
    workload: { type: 'string', default: 'mixed' },
  },
})

bindThisProcess()
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
const ending = new Ending()
try {
  await main()
} finally {
  await ending.run()
}

async function main(): Promise<void> {
  const workload = workloads.find(({ name }) => name === values.workload)
  if (workload === undefined) throw new Error(`no workload is called ${values.workload}`)
  const folder = temporaryFolder(ending, 'recording')
  const place = await openPlace(ending, folder)
  console.log(`${machine()}\n`)
  console.log(
    '| workload | CPU per request without records | with / without | 95 % interval | pairs of slices |',
  )
  console.log('|---|---|---|---|---|')
  const slices: Slice[] = []
  for (let round = 0; round < Number(values.rounds); round++)
    slices.push(...(await slicesOf(workload, place)))
  console.log(rowOf(workload.label, slices))
}

/** Of one fresh process under load, after its warm-up. */
async function slicesOf(workload: Workload, place: Place): Promise<Slice[]> {
  const output = join(place.folder, 'slices.json')
  const peer: Peer = {
    name: 'seatgate-recording',
    label: 'Seatgate',
    authorises: true,
    apiKeys: true,
    available: () => null,
    start: async ({ world, upstream, folder, routes, workers }) => {
      const port = await freePort()
      const setup = { world, port, upstream: upstream.origin, ca: upstream.ca, routes, workers }
      const command = [process.execPath, SERVER, output, writeConfiguration(folder, setup)]
      return runningOf([await Program.start({ command, port, cores: peerCores(workers), folder })])
    },
  }
  const requests = new RequestsOf(place).of({ peer, workload })
  const seconds = Number(values.seconds)
  await withPeer({ peer, workload }, place, async ({ port }) => {
    const traffic = new Traffic({ port, requests, authorises: true, workers: workload.workers })
    await traffic.warmUp(Number(values['warm-up']))
    await traffic.saturate(seconds)
  })
  const all = JSON.parse(readFileSync(output, 'utf8')) as Slice[]
  // Without the warm-up, and without both ends of the load.
  return all.filter(({ requests }) => requests > 0).slice(-4 * seconds + 2, -1)
}

/** Each slice with records against the mean of the slices before and after it, so that a steady drift cancels out. */
function rowOf(label: string, slices: readonly Slice[]): string {
  const costOf = ({ requests, cpu }: Slice) => cpu / requests
  const ratios = slices.flatMap((slice, at) => {
    const [before, after] = [slices[at - 1], slices[at + 1]]
    if (!slice.isRecorded || before?.isRecorded !== false || after?.isRecorded !== false) return []
    return [(2 * costOf(slice)) / (costOf(before) + costOf(after))]
  })
  const without = slices.filter(({ isRecorded }) => !isRecorded).map(costOf)
  const [low, high] = medianInterval(ratios)
  const interval = `${low.toFixed(3)} to ${high.toFixed(3)}`
  return `| ${label} | ${median(without).toFixed(1)} µs | ${median(ratios).toFixed(3)} | ${interval} | ${ratios.length} |`
}
