/** Load at full speed, by wrk, which is never the bottleneck, or by autocannon where wrk is not installed. */

import { join } from 'node:path'
import autocannon from 'autocannon'
import { which } from './cores.ts'
import { byH2load } from './h2load.ts'
import { outputOf, runClient } from './load-process.ts'
import type { HandshakeLoad, Latency, Load, Loaded, RatedLoad, WebSocketLoad } from './load-settings.ts'
import { readRequests } from './read-requests.ts'

const SCRIPT = join(import.meta.dirname, 'wrk.lua')
/** TLS connections of a load that are open at the same time. */
const HANDSHAKES = 16

const wrk = which('wrk')
/** The load program in use. */
export const loader = wrk === null ? 'autocannon' : 'wrk'

/** Rejects when the single-use tokens have run out, because the rest would measure something else. */
export function saturate(load: Load): Promise<Loaded> {
  const { client } = load
  switch (client) {
    case 'http1':
      return wrk === null ? byAutocannon(load) : byWrk(wrk, load)
    case 'websocket':
      return byWebSockets(load)
    case 'tls-connections':
    case 'tls-resumptions':
      return byHandshakes(load)
    default:
      return byH2load(load)
  }
}

/** Sends requests at a fixed rate, whether or not earlier ones have responses. */
export function atRate(load: RatedLoad): Promise<Latency> {
  return runClient<Latency>('open-loop-client.ts', load)
}

async function byWrk(program: string, load: Load): Promise<Loaded> {
  const { port, requests, from, countStatuses, connections, seconds } = load
  const url = `http://127.0.0.1:${port}/`
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT, url, '--']
  const statuses = countStatuses ? 'statuses' : '-'
  const scriptArgs = [requests.list, `${from}`, requests.newTokens?.list ?? '-', statuses]
  const printed = await outputOf([program, ...options, ...scriptArgs], load)
  const { microseconds, exhausted, ...loaded } = JSON.parse(
    printed.trimEnd().split('\n').at(-1) ?? '',
  ) as WrkOutput
  if (exhausted) throw new Error('the tokens that are sent once are not enough')
  return { ...loaded, rate: (loaded.requests * 1e6) / microseconds }
}

/** The output of wrk.lua. */
interface WrkOutput extends Omit<Loaded, 'rate'> {
  readonly microseconds: number
  readonly exhausted: boolean
}

/** Opens a TLS connection for each request, with a full handshake or a resumed session. */
function byHandshakes(load: Load): Promise<Loaded> {
  const { client, port, requests, from, seconds, workers = 1 } = load
  const { method, path, headers } = readRequests(requests, from).next().value
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers]
  const head = `${lines.join('\r\n')}\r\n\r\n`
  const resume = client === 'tls-resumptions'
  const handshakes: HandshakeLoad = { port, seconds, workers, resume, atOnce: HANDSHAKES, head }
  return runClient<Loaded>('handshake-client.ts', handshakes)
}

/** Each message is sent when the last one of its connection is echoed. */
async function byWebSockets({ port, requests, from, connections, seconds }: Load): Promise<Loaded> {
  const { path, headers } = readRequests(requests, from).next().value
  const load: WebSocketLoad = { port, connections, path, headers, seconds }
  const { messages, rate } = await runClient<Messages>('websocket-client.ts', load)
  return { requests: messages, sent: messages, refused: 0, failed: 0, rate, statuses: {} }
}

/** The output of websocket-client.ts. */
interface Messages {
  readonly messages: number
  readonly rate: number
}

async function byAutocannon({ port, requests, from, connections, seconds }: Load): Promise<Loaded> {
  const reader = readRequests(requests, from)
  let sent = 0
  // autocannon takes nothing of its own for what the returned request lacks: Host would be
  // `undefined:undefined`.
  const Host = `127.0.0.1:${port}`
  const setupRequest = () => {
    sent++
    const { method, path, headers, body } = reader.next().value
    return { method, path, headers: { Host, ...Object.fromEntries(headers.map(fieldOf)) }, body }
  }
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    requests: [{ setupRequest }],
  })
  const refused = result['4xx'] + result['5xx']
  const answered = result['2xx'] + refused
  const statuses = Object.fromEntries(
    Object.entries(result.statusCodeStats).map(([status, { count }]) => [status, count]),
  )
  return {
    requests: answered,
    sent,
    refused,
    failed: result.errors,
    rate: answered / result.duration,
    statuses,
  }
}

function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
