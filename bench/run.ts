/**
 * `npm run bench`: what authorization costs. The same gateway process forwards the same request twice over: by a
 * public route, and by one that needs a permission. CPU is the gateway process's own, from /proc; runs alternate, and
 * medians are compared, because the machine is shared and only ratios in one run mean anything.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { GatewayProcess } from './gateway-process.ts'
import { lookupCosts } from './lookup.ts'

const ROUNDS = 7
const SECONDS = 4
const CONNECTIONS = 64

interface Sample {
  /** CPU microseconds a request. */
  readonly cpu: number
  /** Requests a second. */
  readonly rate: number
}

const upstream = await startUpstream()
try {
  // Once for the compile cache, which every start but the first one has.
  await (await GatewayProcess.start({ upstream: upstream.url })).stop()
  await authorizationCost()
  await tableSize()
  await storeSize()
} finally {
  upstream.process.disconnect()
}

async function authorizationCost(): Promise<void> {
  const gateway = await GatewayProcess.start({ upstream: upstream.url })
  console.log(
    `idle: ${gateway.memory().toFixed(0)} MiB; accepts ${gateway.startedIn.toFixed(0)} ms after its start`,
  )
  const samples = { open: [] as Sample[], authorised: [] as Sample[] }
  await load(gateway, 'open', 2)
  await load(gateway, 'authorised', 2)
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? (['open', 'authorised'] as const) : (['authorised', 'open'] as const)
    for (const kind of order) samples[kind].push(await load(gateway, kind, SECONDS))
  }
  await gateway.stop()
  for (const kind of ['open', 'authorised'] as const) {
    const { cpu, rate } = median(samples[kind])
    console.log(`${kind.padEnd(10)} ${cpu.toFixed(1)} µs CPU a request, ${rate.toFixed(0)} requests/s`)
  }
  const ratios = samples.open
    .map((open, i) => (samples.authorised[i]?.cpu ?? 0) / open.cpu)
    .sort((a, b) => a - b)
  console.log(`authorised / open: ${ratios[ratios.length >> 1]?.toFixed(3)} (median of ${ROUNDS} pairs)`)
}

async function tableSize(): Promise<void> {
  for (const { routes, nanoseconds } of lookupCosts([10, 1000, 10_000])) {
    console.log(`lookup among ${String(routes).padStart(6)} routes: ${nanoseconds.toFixed(0)} ns`)
  }
  const gateway = await GatewayProcess.start({ upstream: upstream.url, routes: 10_000 })
  console.log(
    `with 10,000 routes: accepts after ${gateway.startedIn.toFixed(0)} ms, ${gateway.memory().toFixed(0)} MiB`,
  )
  await gateway.stop()
}

async function storeSize(): Promise<void> {
  for (const seats of [0, 100_000]) {
    const gateway = await GatewayProcess.start({ upstream: upstream.url, seats })
    await load(gateway, 'authorised', 2)
    console.log(`with ${seats} Seats stored and one in use: ${gateway.memory().toFixed(0)} MiB after load`)
    await gateway.stop()
  }
}

async function load(gateway: GatewayProcess, kind: 'open' | 'authorised', duration: number): Promise<Sample> {
  const path = kind === 'open' ? '/open/7' : '/v1/trainings/7'
  const headers = { authorization: `Bearer ${gateway.token}`, space: 's1' }
  const before = gateway.cpu()
  const result = await autocannon({ url: gateway.url + path, headers, connections: CONNECTIONS, duration })
  const used = gateway.cpu() - before
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${kind}: ${result.non2xx} refused, ${result.errors} failed`)
  return { cpu: used / result['2xx'], rate: result.requests.average }
}

function median(samples: readonly Sample[]): Sample {
  const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
  return { cpu: middle(samples.map((each) => each.cpu)), rate: middle(samples.map((each) => each.rate)) }
}

async function startUpstream(): Promise<{ process: ChildProcess; url: string }> {
  const child = fork(fileURLToPath(new URL('./upstream.ts', import.meta.url)))
  const [port] = await once(child, 'message')
  return { process: child, url: `http://127.0.0.1:${port}` }
}
