/**
 * Load over TLS by h2load (Debian: nghttp2-client), HTTP/2 and HTTP/1.1 alike, and gRPC-like calls. It
 * repeats the one request of its list.
 */

import { writeFileSync } from 'node:fs'
import { which } from './cores.ts'
import { checkCall } from './grpc-call.ts'
import { outputOf } from './load-process.ts'
import type { Load, Loaded } from './load-settings.ts'
import { readRequests } from './read-requests.ts'

const program = which('h2load')
/** Streams of a connection. */
const STREAMS = 16
const HTTP2_CONNECTIONS = 16
/** A message of 16 bytes, with the five bytes before it: not compressed, and its length. */
const MESSAGE = Buffer.concat([Buffer.from([0, 0, 0, 0, 16]), Buffer.alloc(16, 'x')])

/** @param streams of a connection in HTTP/2 */
export async function byH2load(load: Load, streams = STREAMS): Promise<Loaded> {
  if (program === null) throw new Error('h2load is not installed: apt-get install nghttp2-client')
  if (load.client === 'grpc')
    await checkCall(load.port, readRequests(load.requests, load.from).next().value, MESSAGE)
  const stdout = await outputOf([program, ...argumentsOf(load, streams)], load)
  return loadedOf(stdout, load.seconds)
}

function argumentsOf(
  { client, port, requests, from, connections, seconds }: Load,
  streams: number,
): string[] {
  const { path, headers } = readRequests(requests, from).next().value
  const protocol =
    client === 'tls-http1' ? ['--h1', `-c${connections}`] : [`-c${HTTP2_CONNECTIONS}`, `-m${streams}`]
  return [
    ...['-t1', `-D${seconds}`, ...protocol],
    ...headers.flatMap((line) => ['-H', line]),
    ...(client === 'grpc' ? call(requests.list) : []),
    `https://127.0.0.1:${port}${path}`,
  ]
}

function call(list: string): string[] {
  const file = `${list}.message`
  writeFileSync(file, MESSAGE)
  return ['-d', file, '-H', 'content-type: application/grpc', '-H', 'te: trailers']
}

/**
 * Exported for its test.
 *
 * @param seconds of the load
 */
export function loadedOf(output: string, seconds: number): Loaded {
  const numbers = (line: RegExp) => (line.exec(output) ?? []).slice(1).map(Number)
  const [done = 0, errored = 0, timeout = 0] = numbers(/(\d+) done, .* (\d+) errored, (\d+) timeout/)
  const [good = 0, other = 0, client = 0, server = 0] = numbers(/(\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/)
  const refused = client + server
  // What has neither a status nor an error was not answered.
  const failed = errored + timeout + other + Math.max(0, done - good - other - refused - errored - timeout)
  // Statuses are counted as they arrive, and requests once they are complete.
  const requests = Math.min(done, good + refused)
  return {
    requests,
    sent: done,
    refused,
    failed,
    rate: requests / seconds,
    statuses: {},
  }
}
