/**
 * `node bench/replay.ts [--lines 1000000,10000000] [--folder DIR]`: lines per second and memory of `seatgate
 * replay`, beside `jq` over the same file. Prints Markdown. A gateway writes the log for half a minute of
 * mixed traffic, and its lines are repeated: a million take 900 MB. With `--folder`, the logs are kept.
 */

import { spawn } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { MAIN } from '../test/support/gateway-process.ts'
import { which } from './cores.ts'
import { type Ending, runBench, temporaryFolder } from './harness.ts'
import { openPlace } from './place.ts'
import { cpuOf, memoryOf } from './process-tree.ts'
import { Program } from './program.ts'
import { reservePort } from '../test/support/servers/ports.ts'
import { machine } from './results.ts'
import { Traffic } from './traffic.ts'
import { mixed } from './workloads.ts'
import { writeConfiguration } from './world.ts'

const { values } = parseArgs({
  options: { lines: { type: 'string', default: '1000000,10000000' }, folder: { type: 'string' } },
})
/** Seconds of traffic. */
const SECONDS = 30
/** Milliseconds between looks at a process. */
const INTERVAL = 100
const TITLES = [
  ...['lines', 'log', 'a second', 'a CPU second', 'memory'],
  ...['jq a second', 'jq a CPU second', 'CPU of jq / own'],
]

await runBench(async (ending) => {
  const { config, lines: sample } = await recorded(ending)
  const folder = values.folder ?? temporaryFolder(ending, 'replay')
  mkdirSync(folder, { recursive: true })
  console.log(`${machine()}\n\n| ${TITLES.join(' | ')} |\n|${'---|'.repeat(TITLES.length)}`)
  for (const count of values.lines.split(',').map(Number)) {
    const log = join(folder, `${count}.log`)
    if (!existsSync(log)) await writeLog(log, sample, count)
    console.log(await rowOf(config, log, count))
    if (values.folder === undefined) rmSync(log)
  }
})

/** Returns the configuration of a gateway, and the lines that it writes about mixed traffic. */
async function recorded(ending: Ending): Promise<{ readonly config: string; readonly lines: string[] }> {
  const { world, upstreams, folder: parent } = await openPlace(ending, temporaryFolder(ending, 'replay'))
  const folder = join(parent, 'gateway')
  mkdirSync(folder)
  const [port, { routes, workers }] = [await reservePort(ending.t), mixed]
  const { origin: upstream, ca } = upstreams.mixed
  const config = writeConfiguration(folder, { world, port, upstream, ca, routes, workers })
  const command = [process.execPath, MAIN, 'start', '--config', config]
  const gateway = await Program.start(ending, { command, port, folder })
  const requests = mixed.requests(world, folder, true)
  await new Traffic({ port, requests, authorises: true, workers }).saturate(SECONDS)
  await gateway.end()
  return { config, lines: gateway.log.split('\n').filter((line) => line.endsWith('"msg":"request"}')) }
}

async function writeLog(path: string, sample: readonly string[], count: number): Promise<void> {
  const output = createWriteStream(path)
  for (let left = count; left > 0; left -= sample.length)
    if (!output.write(`${sample.slice(0, left).join('\n')}\n`)) await once(output, 'drain')
  output.end()
  await once(output, 'close')
}

async function rowOf(config: string, log: string, lines: number): Promise<string> {
  const own = await usageOf(process.execPath, [MAIN, 'replay', log, '--config', config, '--json'], 'pipe')
  const { same, unjudged } = JSON.parse(own.out) as { same: number; unjudged: Record<string, number> }
  const judged = lines - Object.values(unjudged).reduce((sum, each) => sum + each, 0)
  if (same !== judged || judged < lines / 2) throw new Error(`${same} of ${lines} are the same: ${own.out}`)
  const jq = which('jq') === null ? null : await usageOf('jq', ['-c', '.decision', log], 'ignore')
  const rate = (seconds: number) => Math.round(lines / seconds).toLocaleString('en')
  const cells = [
    lines.toLocaleString('en'),
    `${Math.round(statSync(log).size / 1024 ** 2)} MiB`,
    rate(own.seconds),
    rate(own.cpu),
    `${Math.round(own.memory / 1024 ** 2)} MiB`,
    ...(jq === null ? ['', '', ''] : [rate(jq.seconds), rate(jq.cpu), (jq.cpu / own.cpu).toFixed(1)]),
  ]
  return `| ${cells.join(' | ')} |`
}

/** Runs a command: its seconds, its CPU seconds, the most bytes that it took, and its output. */
async function usageOf(command: string, args: readonly string[], output: 'pipe' | 'ignore') {
  const begun = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', output, 'inherit'] })
  let [cpu, memory] = [0, 0]
  const timer = setInterval(() => {
    if (child.pid === undefined) return
    cpu = Math.max(cpu, cpuOf([child.pid]) / 1e6)
    memory = Math.max(memory, memoryOf([child.pid]))
  }, INTERVAL)
  const [out] = await Promise.all([child.stdout === null ? '' : text(child.stdout), once(child, 'close')])
  clearInterval(timer)
  return { seconds: (performance.now() - begun) / 1000, cpu, memory, out }
}
