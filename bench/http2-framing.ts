/**
 * `node bench/http2-framing.ts [TURNS]`: CPU per request of Seatgate's own HTTP/2, and of node:http2 in its place, by turns, with
 * 1, 16 and 64 streams a connection. Both answer by themselves, so that nothing else is measured.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CertificateFiles, makeCertificate } from './certificate.ts'
import { bindThisProcess, peerCores } from './cores.ts'
import { inTurn } from './plan.ts'
import { cpuOf } from './process-tree.ts'
import { freePort, Program } from './program.ts'
import { type Requests, writeRequests } from './requests.ts'
import { median, quantile } from './scale/statistics.ts'
import { byH2load } from './h2load.ts'
import { token } from './world.ts'

const SERVER = fileURLToPath(new URL('./servers/http2-framing.ts', import.meta.url))
const KINDS = ['own', 'node'] as const
const STREAMS = [1, 16, 64]
/** Requests that warm a server up; seconds of a turn. */
const WARM = 60_000
const SECONDS = 2

const turns = Number(process.argv[2] ?? 9)
const folder = mkdtempSync(join(tmpdir(), 'seatgate-framing-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
bindThisProcess()

const authorization = `Authorization: Bearer ${token({ secret: 'x'.repeat(64) })}`
const requests = writeRequests(folder, 'one', [
  { path: '/v1/trainings/7', headers: ['Space: s1', authorization] },
])
const certificate = makeCertificate(folder)
const servers = await Promise.all(KINDS.map((kind) => start(kind, certificate)))
try {
  console.log('| streams | own | node:http2 | own / node:http2 | quartiles |\n|---|---|---|---|---|')
  for (const streams of STREAMS) console.log(await compared(requests, streams))
} finally {
  for (const server of servers) await server.stop()
}

async function start(kind: string, { cert, key }: CertificateFiles): Promise<Program> {
  const port = await freePort()
  const command = [process.execPath, SERVER, kind, `${port}`, cert, key]
  return Program.start({ command, port, cores: peerCores(1), folder })
}

async function compared(list: Requests, streams: number): Promise<string> {
  for (const server of servers)
    for (let sent = 0; sent < WARM;) sent += (await load(server, list, streams)).requests
  const costs = KINDS.map((): number[] => [])
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
  const loaded = await byH2load(
    'tls-http2',
    { ...common, connections: 0, seconds: SECONDS, workers: 1 },
    streams,
  )
  if (loaded.failed > 0 || loaded.refused > 0 || loaded.requests === 0) throw new Error('wrong answers')
  return { cpu: (cpuOf([pid]) - before) / loaded.requests, requests: loaded.requests }
}
