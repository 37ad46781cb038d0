/**
 * `node bench/parts.ts [--rounds N] [--turns N] [--warm-up SECONDS] [--workload NAME] [--only PART[,PART]]`: what each part that is off by default costs
 * a request. All gateways run at once, one without any part and one with each, and are loaded in turn. Prints Markdown: the
 * difference in CPU per request, and the ratio turn by turn. Without the bench's `--compare`, it says nothing about earlier revisions.
 */

import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seatgate, seatgateWith } from './peers/seatgate.ts'
import type { Peer } from './peers/peer.ts'
import { openPlace, runBench, temporaryFolder } from './place.ts'
import { machine } from './results.ts'
import { RequestsOf } from './rounds.ts'
import type { Ending } from './scale/ending.ts'
import { median, quantile } from './scale/statistics.ts'
import { costsByTurns, ownStore } from './turns.ts'
import { workloads } from './workloads.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    turns: { type: 'string', default: '12' },
    'warm-up': { type: 'string', default: '15' },
    workload: { type: 'string', default: 'mixed' },
    only: { type: 'string' },
  },
})

await runBench(main)

async function main(ending: Ending): Promise<void> {
  const workload = workloads.find(({ name }) => name === values.workload)
  if (workload === undefined) throw new Error(`no workload is called ${values.workload}`)
  const folder = temporaryFolder(ending, 'parts')
  const peers = chosen(partsOf(folder, await collector(ending)))
  const place = await openPlace(ending, folder)
  const requests = new RequestsOf(place)
  const sides = [seatgate, ...peers].map((peer) => ({
    peer,
    place: ownStore(place, peer),
    requests: requests.of({ peer, workload }),
  }))
  const [rounds, turns, warmUp] = [Number(values.rounds), Number(values.turns), Number(values['warm-up'])]
  const [plain = [], ...others] = await costsByTurns(sides, { workload, rounds, turns, warmUp })
  console.log(`${machine()}; ${workload.label}; ${plain.length} turns\n`)
  console.log(
    `| part | CPU per request | of that without it | quartiles of the turns |\n|---|---|---|---|\n| none | ${median(plain).toFixed(1)} µs | | |`,
  )
  for (const [at, costs] of others.entries()) console.log(rowOf(peers[at]?.label ?? '', plain, costs))
}

function rowOf(label: string, plain: readonly number[], costs: readonly number[]): string {
  const ratios = costs.map((cpu, turn) => cpu / (plain[turn] ?? Number.NaN))
  const [low, high] = [quantile(ratios, 0.25), quantile(ratios, 0.75)]
  return `| ${label} | ${median(costs).toFixed(1)} µs | ${median(ratios).toFixed(3)} | ${low.toFixed(3)} to ${high.toFixed(3)} |`
}

function chosen(parts: readonly Peer[]): readonly Peer[] {
  const only = values.only?.split(',') ?? parts.map(({ name }) => name)
  const unknown = only.filter((name) => !parts.some((part) => part.name === name))
  if (unknown.length > 0)
    throw new Error(
      `no part is called ${unknown.join(', ')}; there are ${parts.map(({ name }) => name).join(', ')}`,
    )
  return parts.filter(({ name }) => only.includes(name))
}

/** @param endpoint of the collector of spans */
function partsOf(folder: string, endpoint: string): Peer[] {
  const key = join(folder, 'identity.pem')
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const limits = (...per: string[]) => ({
    top: [`rate_limits: { ${per.map((each) => `${each}: { limit: 1000000/s, per: ${each} }`).join(', ')} }`],
    table: [`rate_limit: [${per.join(', ')}]`],
  })
  const tracing = (...sampler: string[]) => ({
    variables: [`OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`, ...sampler],
  })
  return [
    seatgateWith('decision', 'a decision listener that is not asked', {
      top: ['decision: { listen: "127.0.0.1:0" }'],
    }),
    seatgateWith('rate-limit', 'a rate limit per caller', limits('caller')),
    seatgateWith(
      'rate-limits',
      'three rate limits: caller, tenant, address',
      limits('caller', 'tenant', 'address'),
    ),
    seatgateWith('identity', 'signed identity, ES256', {
      top: [`identity: { keys: [${JSON.stringify(key)}] }`],
    }),
    seatgateWith(
      'tracing-1',
      'tracing, 1 % of the requests',
      tracing('OTEL_TRACES_SAMPLER=traceidratio', 'OTEL_TRACES_SAMPLER_ARG=0.01'),
    ),
    seatgateWith(
      'tracing',
      'tracing, each request',
      tracing('OTEL_TRACES_SAMPLER=always_on', 'OTEL_BSP_MAX_QUEUE_SIZE=65536'),
    ),
    seatgateWith('metrics', 'metrics by upstream', { top: ['metrics: { routes: false }'] }),
  ]
}

/** Takes all spans. */
async function collector(ending: Ending): Promise<string> {
  const server = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ending.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
