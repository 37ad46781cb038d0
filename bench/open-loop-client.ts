/**
 * Sends requests at a fixed rate on a set of connections, whether or not earlier ones have responses. Each
 * request has a due time, waits while all connections are in use, and its latency counts from the due time.
 * So a stalled peer is charged for every request that becomes due while it stalls (no coordinated omission).
 * The client's own pacing, up to 0.1 ms, is part of every latency. Prints one line of JSON.
 */

import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { Latency, RatedLoad } from './load-settings.ts'
import { readRequests } from './read-requests.ts'
import { quantile } from './statistics.ts'

/** Milliseconds: the longest sleep, and the wait for the last responses. */
const NAP = 0.1
const LAST_WAIT = 5000

const load = JSON.parse(readFileSync(0, 'utf8')) as RatedLoad
const messages = messagesOf(load)
const napping = new Int32Array(new SharedArrayBuffer(4))

/** Milliseconds: the latency of each response, and the client's own delay of each request. */
const latencies: number[] = []
const lateness: number[] = []
let refused = 0
let failed = 0

/** A connection with one request at a time. */
class Connection {
  #socket: Socket
  #due = 0
  #busy = false
  #received = ''
  /** Total length of the response in characters; 0 while its header section is incomplete. */
  #length = 0

  constructor() {
    this.#socket = this.#open()
  }

  send(message: Buffer, due: number): void {
    this.#due = due
    this.#busy = true
    this.#socket.write(message)
  }

  end(): void {
    this.#busy = false
    this.#socket.destroy()
  }

  #open(): Socket {
    const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    socket.on('data', (text: string) => this.#read(text))
    socket.on('error', () => {})
    socket.on('close', () => this.#closed())
    return socket
  }

  #read(text: string): void {
    this.#received = this.#received === '' ? text : this.#received + text
    if (this.#length === 0) this.#length = lengthOf(this.#received)
    if (this.#length === 0 || this.#received.length < this.#length) return
    latencies.push(performance.now() - this.#due)
    if (!this.#received.startsWith('HTTP/1.1 200 ')) refused++
    this.#ready()
  }

  #ready(): void {
    this.#received = ''
    this.#length = 0
    this.#busy = false
    free.push(this)
    sendDue()
  }

  #closed(): void {
    if (ended) return
    this.#socket = this.#open()
    if (!this.#busy) return
    failed++
    this.#ready()
  }
}

let ended = false
const free = Array.from({ length: load.connections }, () => new Connection())
const all = [...free]
const begun = performance.now() + 200
const total = messages.length
/** Numbers of requests that became due, and that were sent. */
let due = 0
let sent = 0

setTimeout(turn, 200)

/** Sleeps are short, so that responses are read soon, and long enough to leave the core to others. */
function turn(): void {
  if (ended) return
  const now = performance.now()
  while (due < total && timeOf(due) <= now) {
    lateness.push(now - timeOf(due++))
  }
  sendDue()
  if (due === total) return void finishLater()
  const gap = timeOf(due) - performance.now()
  if (gap > 0.02) Atomics.wait(napping, 0, 0, Math.min(gap, NAP))
  setImmediate(turn)
}

function timeOf(number: number): number {
  return begun + (number * 1000) / load.rate
}

function sendDue(): void {
  while (sent < due) {
    const connection = free.shift()
    const message = messages[sent]
    if (connection === undefined || message === undefined) return
    connection.send(message, timeOf(sent++))
  }
}

function finishLater(): void {
  const late = setTimeout(finish, LAST_WAIT)
  const look = () => {
    if (ended) return
    if (latencies.length + failed < total) return void setTimeout(look, 5)
    clearTimeout(late)
    finish()
  }
  look()
}

function finish(): void {
  if (ended) return
  ended = true
  for (const connection of all) connection.end()
  const result: Latency = {
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    p999: quantile(latencies, 0.999),
    most: quantile(latencies, 1),
    late: quantile(lateness, 0.99),
    requests: latencies.length,
    refused,
    failed: due - latencies.length,
    rate: load.rate,
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

function lengthOf(text: string): number {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return 0
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1]
  if (length === undefined) throw new Error('an answer without a length')
  return end + 4 + Number(length)
}

/** The text of the requests. */
function messagesOf({ port, requests, from, rate, seconds }: RatedLoad): Buffer[] {
  const reader = readRequests(requests, from)
  return Array.from({ length: Math.round(rate * seconds) }, () => {
    const { method, path, headers, body } = reader.next().value
    const lines = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers]
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
  })
}
