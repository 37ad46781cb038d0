/**
 * Load as hard as it goes: by wrk, which is never the bottleneck, or by autocannon where wrk is not installed. Called by
 * the measurements.
 */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import { bound, loadCores, which } from './cores.ts'
import type { Requests } from './requests.ts'

const SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url))
const MEBIBYTE = 1024 * 1024
/** Milliseconds beyond its time that wrk may take. */
const PATIENCE = 30_000

const wrk = which('wrk')
/** Which program loads. */
export const loader = wrk === null ? 'autocannon' : 'wrk'

export interface Load {
  readonly port: number
  readonly requests: Requests
  readonly connections: number
  readonly seconds: number
  /** Cores that the peer may use, and the load may not. */
  readonly workers: number
}

export interface Loaded {
  /** Answered. */
  readonly requests: number
  /** Of these, with a status of 400 or above. */
  readonly refused: number
  /** Not answered. */
  readonly failed: number
  /** A second. */
  readonly rate: number
}

/** Rejects when requests that may be sent once have run out: the rest would have measured something else. */
export async function saturate(load: Load): Promise<Loaded> {
  if (load.seconds <= 0) return { requests: 0, refused: 0, failed: 0, rate: 0 }
  return wrk === null ? byAutocannon(load) : byWrk(wrk, load)
}

async function byWrk(program: string, { port, requests, connections, seconds, workers }: Load) {
  const { list, count, once, method, body, headers } = requests
  const url = `http://127.0.0.1:${port}/`
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT, url, '--']
  const told = [list, `${count}`, once ? 'once' : 'over', method, `${body}`, ...headers]
  const [file = '', ...args] = bound(loadCores(workers), [program, ...options, ...told])
  const limits = { maxBuffer: MEBIBYTE, timeout: seconds * 1000 + PATIENCE }
  const { stdout } = await promisify(execFile)(file, args, limits).catch(asError)
  const said = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Said
  if (said.exhausted) throw new Error(`${count} requests were not enough`)
  const { refused, failed } = said
  return { requests: said.requests, refused, failed, rate: (said.requests * 1e6) / said.microseconds }
}

/** In its own words: those of the command have all its arguments. */
function asError(cause: Error & { stderr?: string }): never {
  throw new Error(`wrk: ${cause.stderr?.trim() || cause.message}`, { cause })
}

/** What wrk.lua prints. */
interface Said extends Omit<Loaded, 'rate'> {
  readonly microseconds: number
  readonly exhausted: boolean
}

async function byAutocannon({ port, requests, connections, seconds }: Load): Promise<Loaded> {
  const { method, headers, body, list } = requests
  const lines = readFileSync(list, 'utf8').trimEnd().split('\n')
  let sent = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    method,
    ...(body > 0 ? { body: 'x'.repeat(body) } : {}),
    requests: [
      { setupRequest: (request) => ({ ...request, ...next(lines[sent++ % lines.length], headers) }) },
    ],
  })
  if (requests.once && sent > lines.length) throw new Error(`${lines.length} requests were not enough`)
  const refused = result['4xx'] + result['5xx']
  return {
    requests: result['2xx'] + refused,
    refused,
    failed: result.errors,
    rate: (result['2xx'] + refused) / result.duration,
  }
}

function next(line = '', common: readonly string[]): { path: string; headers: Record<string, string> } {
  const [path = '/', own = ''] = line.split('\t')
  const fields = [...common, ...(own === '' ? [] : [own])].map((each) => {
    const colon = each.indexOf(':')
    return [each.slice(0, colon), each.slice(colon + 1).trim()] as const
  })
  return { path, headers: Object.fromEntries(fields) }
}
