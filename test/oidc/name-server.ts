/** A DNS server on loopback over UDP with scripted answers, or none. */

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import type { Test } from 'tap'

/** Addresses, an error (RFC 1035, section 4.1.1), or no answer (null). */
export type Records = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | null

const CODES = { NXDOMAIN: 3, SERVFAIL: 2 }
const A = 1
const AAAA = 28

export class NameServer {
  /** `127.0.0.1:port` */
  readonly address: string
  /** Name → records; other names do not exist. A function is called for each query. */
  readonly names = new Map<string, Records | ((type: 'A' | 'AAAA') => Records)>()
  /** `name type`, in the order of the queries. */
  readonly queries: string[] = []
  readonly #socket: Socket
  #silent: { readonly question: Buffer; readonly from: RemoteInfo }[] = []

  private constructor(socket: Socket) {
    this.#socket = socket
    this.address = `127.0.0.1:${socket.address().port}`
  }

  static async start(t: Test): Promise<NameServer> {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    t.teardown(() => socket.close())
    const server = new NameServer(socket)
    socket.on('message', (question, from) => server.#answer(question, from))
    return server
  }

  count(name: string): number {
    return this.queries.filter((each) => each.startsWith(`${name} `)).length
  }

  /** Answers the pending queries with "no such name". */
  release(): void {
    for (const { question, from } of this.#silent.splice(0)) this.#send(question, from, 'NXDOMAIN', A)
  }

  #answer(question: Buffer, from: RemoteInfo): void {
    const { name, type } = questionOf(question)
    const kind = type === A ? 'A' : 'AAAA'
    this.queries.push(`${name} ${kind}`)
    const known = this.names.has(name) ? (this.names.get(name) ?? null) : 'NXDOMAIN'
    const records = typeof known === 'function' ? known(kind) : known
    if (records === null) this.#silent.push({ question, from })
    else this.#send(question, from, records, type)
  }

  #send(question: Buffer, from: RemoteInfo, records: Exclude<Records, null>, type: number): void {
    const addresses =
      typeof records === 'string' ? [] : records.filter((each) => isIPv4(each) === (type === A))
    const header = Buffer.alloc(12)
    question.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (typeof records === 'string' ? CODES[records] : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const questionBytes = question.subarray(12, questionOf(question).end)
    this.#socket.send(
      Buffer.concat([header, questionBytes, ...addresses.map((each) => recordOf(each, type))]),
      from.port,
      from.address,
    )
  }
}

function questionOf(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] ?? 0; length !== 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

/** A record for the name in the query; its TTL is one second. */
function recordOf(address: string, type: number): Buffer {
  const data = type === AAAA ? bytesOfV6(address) : Buffer.from(address.split('.').map(Number))
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 1, 0, data.length])
  return Buffer.concat([head, data])
}

/** With all eight groups written out. */
function bytesOfV6(address: string): Buffer {
  return Buffer.from(
    address
      .split(':')
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  )
}
