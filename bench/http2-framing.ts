/**
 * `node bench/http2-framing.ts [TURNS]`: CPU per request of Seatgate's own HTTP/2, and of node:http2 in its
 * place, by turns, with 1, 16 and 64 streams a connection. Both answer by themselves, so that nothing else is
 * measured.
 */

import { join } from 'node:path'
import { makeCertificate } from './certificate.ts'
import { bindThisProcess, peerCores } from './cores.ts'
import { runBench, temporaryFolder } from './harness.ts'
import { inTurn } from './plan.ts'
import { cpuOf } from './process-tree.ts'
import { Program } from './program.ts'
import { reservePort } from '../test/support/servers/ports.ts'
import { type Requests, writeRequests } from './requests.ts'
import { median, quantile } from './statistics.ts'
import { byH2load } from './h2load.ts'
import { token } from './world.ts'

const SERVER = join(import.meta.dirname, 'servers', 'http2-framing.ts')
const STREAMS = [1, 16, 64]
/** Requests that warm a server up; seconds of a turn. */
const WARM = 60_000
const SECONDS = 2

const turns = Number(process.argv[2] ?? 9)

await runBench(async (ending) => {
  const folder = temporaryFolder(ending, 'framing')
  bindThisProcess()
  const authorization = `Authorization: Bearer ${token({ secret: 'x'.repeat(64) })}`
  const headers = ['Space: s1', authorization]
  const requests = writeRequests(folder, 'one', [{ path: '/v1/trainings/7', headers }])
  const { cert, key } = makeCertificate(folder)
  const start = async (kind: string) => {
    const port = await reservePort(ending.t)
    const command = [process.execPath, SERVER, kind, `${port}`, cert, key]
    return Program.start(ending, { command, port, cores: peerCores(1), folder })
  }
  const servers = [await start('own'), await start('node')]
  console.log('| streams | own | node:http2 | own / node:http2 | quartiles |\n|---|---|---|---|---|')
  for (const streams of STREAMS) console.log(await compared(servers, requests, streams))
})

async function compared(servers: readonly Program[], list: Requests, streams: number): Promise<string> {
  for (const server of servers)
    for (let sent = 0; sent < WARM;) sent += (await load(server, list, streams)).requests
  const costs = servers.map((): number[] => [])
  for (let turn = 0; turn < turns; turn++)
    for (const [at, server] of inTurn([...servers.entries()], turn))
      costs[at]?.push((await load(server, list, streams)).cpu)
  const [own = [], node = []] = costs
  const ratios = own.map((cpu, turn) => cpu / (node[turn] ?? Number.NaN))
  const cells = [median(own), median(node)].map((cpu) => `${cpu.toFixed(1)} µs`)
  const quartiles = [0.25, 0.75].map((share) => quantile(ratios, share).toFixed(2)).join(' to ')
  return `| ${[streams, ...cells, median(ratios).toFixed(2), quartiles].join(' | ')} |`
}

async function load({ port, pid }: Program, list: Requests, streams: number) {
  const before = cpuOf([pid])
  const common = { client: 'tls-http2', port, requests: list, from: 0, countStatuses: false } as const
  const loaded = await byH2load({ ...common, connections: 0, seconds: SECONDS }, streams)
  if (loaded.failed > 0 || loaded.refused > 0 || loaded.requests === 0) throw new Error('wrong answers')
  return { cpu: (cpuOf([pid]) - before) / loaded.requests, requests: loaded.requests }
}
