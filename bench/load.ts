/** Load at full speed, by wrk, which is never the bottleneck, or by autocannon where wrk is not installed. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import { bound, loadCores, prioritized, which } from './cores.ts'
import { byH2load } from './h2load.ts'
import { byHandshakes } from './handshakes.ts'
import type { Load, Loaded } from './load-settings.ts'
import { readRequests } from './read-requests.ts'

const SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url))
const MEBIBYTE = 1024 * 1024
/** Milliseconds beyond its time that wrk may take. */
const MARGIN = 30_000

const wrk = which('wrk')
/** The load program in use. */
export const loader = wrk === null ? 'autocannon' : 'wrk'

/** Rejects when the single-use tokens have run out, because the rest would measure something else. */
export function saturate(load: Load): Promise<Loaded> {
  const { client } = load
  switch (client) {
    case 'http1':
      return wrk === null ? byAutocannon(load) : byWrk(wrk, load)
    case 'tls-connections':
    case 'tls-resumptions':
      return byHandshakes(client === 'tls-resumptions', load)
    default:
      return byH2load(client, load)
  }
}

async function byWrk(program: string, load: Load): Promise<Loaded> {
  const { port, requests, from, countStatuses, connections, seconds, workers, background } = load
  const url = `http://127.0.0.1:${port}/`
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT, url, '--']
  const scriptArgs = [
    requests.list,
    `${from}`,
    requests.newTokens?.list ?? '-',
    countStatuses ? 'statuses' : '-',
  ]
  const [file = '', ...args] = bound(
    loadCores(workers),
    prioritized(background, [program, ...options, ...scriptArgs]),
  )
  const limits = { maxBuffer: MEBIBYTE, timeout: seconds * 1000 + MARGIN }
  const { stdout } = await promisify(execFile)(file, args, limits).catch(asError)
  const { microseconds, exhausted, ...loaded } = JSON.parse(
    stdout.trimEnd().split('\n').at(-1) ?? '',
  ) as WrkOutput
  if (exhausted) throw new Error('the tokens that are sent once are not enough')
  return { ...loaded, rate: (loaded.requests * 1e6) / microseconds }
}

/** The program's own message: that of the command contains all its arguments. */
function asError(cause: Error & { stderr?: string }): never {
  throw new Error(`wrk: ${cause.stderr?.trim() || cause.message}`, { cause })
}

/** The output of wrk.lua. */
interface WrkOutput extends Omit<Loaded, 'rate'> {
  readonly microseconds: number
  readonly exhausted: boolean
}

async function byAutocannon({ port, requests, from, connections, seconds }: Load): Promise<Loaded> {
  const reader = readRequests(requests, from)
  let sent = 0
  // autocannon takes nothing of its own for what the returned request lacks: Host would be `undefined:undefined`.
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
