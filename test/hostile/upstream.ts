/**
 * The upstream of these tests: a real server that records the bytes of each connection, and answers the requests that
 * RFC 9112 finds in them. Afterwards the bytes are parsed again as lenient servers do, and every reading must find
 * what the gateway decided.
 */

import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { serveRaw } from '../proxy/support.ts'
import { leniencies, type Leniency, strict } from './leniency.ts'
import { fieldOf, type ReadRequest, readRequests } from './reading.ts'

/** A request that the gateway decided to forward. */
export interface Decided {
  readonly id: string
  readonly method: string
  readonly path: string
}

interface Recorded {
  open: boolean
  bytes: string
  /** The number of bytes that are answered. */
  answered: number
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok'
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n'

export class RecordingUpstream {
  url = ''
  #connections: Recorded[] = []

  /** Returns its URL. Closed with the test. */
  async listen(t: Pick<Test, 'teardown'>): Promise<string> {
    const port = await serveRaw(t, (socket) => this.#serve(socket))
    return (this.url = `http://127.0.0.1:${port}`)
  }

  /** The bytes of each connection since `forget`. */
  get streams(): string[] {
    return this.#connections.map(({ bytes }) => bytes).filter((bytes) => bytes !== '')
  }

  /** The requests since `forget` as RFC 9112 reads them, connection by connection. */
  get requests(): ReadRequest[] {
    return this.streams.flatMap((bytes) => readRequests(bytes, strict).requests)
  }

  /** Drops what is answered or has ended; requests in flight stay. */
  forget(): void {
    this.#connections = this.#connections.filter(({ open }) => open)
    for (const each of this.#connections) {
      each.bytes = each.bytes.slice(each.answered)
      each.answered = 0
    }
  }

  /** No open connection has a request without a response. */
  get settled(): boolean {
    return this.#connections.every(({ open, bytes, answered }) => !open || bytes.length === answered)
  }

  #serve(socket: Socket): void {
    const connection: Recorded = { open: true, bytes: '', answered: 0 }
    this.#connections.push(connection)
    socket.on('close', () => (connection.open = false))
    socket.on('data', (chunk) => {
      connection.bytes += chunk.toString('latin1')
      answer(connection, socket)
    })
  }
}

function answer(connection: Recorded, socket: Socket): void {
  const { requests, end, taken } = readRequests(connection.bytes.slice(connection.answered), strict)
  const whole = requests.filter((request) => request.whole)
  for (const { method } of whole) socket.write(method === 'HEAD' ? EMPTY : OK)
  if (whole.length === requests.length) connection.answered += taken
  // The bytes stay, for the test to inspect.
  if (end === 'malformed') socket.destroy()
}

/** A description of the disagreement; null when every reading finds the same. */
export function sameForAll(streams: readonly string[], decided: readonly Decided[]): string | null {
  const known = new Map(decided.map((each) => [each.id, `${each.method} ${each.path} ${each.id}`]))
  const seen = new Set<string>()
  for (const bytes of streams) {
    const expected = linesOf(bytes, strict)
    if (expected === null) return `not HTTP/1.1: ${JSON.stringify(bytes)}`
    for (const leniency of leniencies)
      if (!isDeepStrictEqual(linesOf(bytes, leniency), expected))
        return `"${leniency.name}" reads another thing: ${JSON.stringify(bytes)}`
    for (const { id, line } of expected) {
      if (known.get(id) !== line) return `no decision for ${line}: ${known.get(id)}`
      if (seen.has(id)) return `${line} came twice`
      seen.add(id)
    }
  }
  return null
}

/** The requests of a stream; null where a reader finds bytes that are not HTTP. */
function linesOf(bytes: string, leniency: Leniency) {
  const { requests, end } = readRequests(bytes, leniency)
  if (end === 'malformed') return null
  return requests.map(({ method, target, body, whole, fields }) => {
    const id = fieldOf({ fields }, 'x-request-id') ?? 'no id'
    // As the gateway decided.
    const line = `${method} ${target.split('?', 1)[0]} ${id}`
    return { id, line, target, body, whole }
  })
}
