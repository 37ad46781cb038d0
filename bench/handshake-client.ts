/**
 * Opens TLS 1.3 connections for a time, each for one request, and prints a `Loaded` as JSON. A response that
 * is not 200, and a handshake that was not resumed, or not full, as it should be, has failed.
 */

import { readFileSync } from 'node:fs'
import { connect, type ConnectionOptions, createSecureContext } from 'node:tls'
import type { HandshakeLoad, Loaded } from './load-settings.ts'

const { port, seconds, resume, atOnce, head } = JSON.parse(readFileSync(0, 'utf8')) as HandshakeLoad

// The cost of the peer is measured, so that the client may trust any certificate.
const secureContext = createSecureContext({ minVersion: 'TLSv1.3' })
const options = {
  port,
  host: '127.0.0.1',
  secureContext,
  rejectUnauthorized: false,
} satisfies ConnectionOptions
let ticket: Buffer | undefined

interface Outcome {
  readonly resumed: boolean
  /** The status of the response; 0: there is none. */
  readonly status: number
}

function request(): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect({ ...options, ...(ticket === undefined ? {} : { session: ticket }) })
    let [status, resumed] = [0, false]
    socket.once('secureConnect', () => (resumed = socket.isSessionReused()))
    socket.write(head)
    socket.on('data', (chunk: Buffer) => (status ||= Number(chunk.toString('latin1', 9, 12))))
    if (resume) socket.on('session', (session) => (ticket = session))
    socket.on('error', () => {})
    socket.on('close', () => resolve({ resumed, status }))
  })
}

let [requests, refused, failed] = [0, 0, 0]

async function repeat(until: number): Promise<void> {
  while (performance.now() < until) {
    const { resumed, status } = await request()
    if (status === 0 || resumed !== resume) failed++
    else requests++
    if (status >= 400) refused++
  }
}

// The first connection of a client has no ticket.
if (resume) await request()
const begun = performance.now()
await Promise.all(Array.from({ length: atOnce }, () => repeat(begun + seconds * 1000)))
const rate = (requests * 1000) / (performance.now() - begun)
const loaded: Loaded = { requests, sent: requests + failed, refused, failed, rate, statuses: {} }
console.log(JSON.stringify(loaded))
