/**
 * Load generators on plain sockets of this machine. Each stops at the signal, with all of its connections.
 */

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadProcess } from '../load-process.ts'

export interface AttackCount {
  /** Responses, or opened connections. */
  readonly done: number
  /** Responses with a status of 400 or above, and connections that the gateway closed. */
  readonly refused: number
}

export interface AttackSetup {
  readonly port: number
  /** API keys of the attacking tenant. */
  readonly keys: { readonly large: string; readonly long: string }
  /** A token of the attacking tenant. */
  readonly token: string
  readonly signal: AbortSignal
}

/** What the process of an attacker is given. */
export type AttackLoad = LoadProcess & Omit<AttackSetup, 'signal'> & { readonly attack: string }

const HEAD_END = Buffer.from('\r\n\r\n')
/** Milliseconds after which a closed connection is reopened. */
const AGAIN = 50

/** Requests in sequence on each connection, each as soon as the last response arrives. */
export async function closedLoop(
  { port, signal }: AttackSetup,
  connections: number,
  requests: readonly Buffer[],
): Promise<AttackCount> {
  let [done, refused, next] = [0, 0, 0]
  const ask = (socket: Socket) => socket.write(requests[next++ % requests.length] ?? '')
  const sockets = new Set<Socket>()
  const open = () => {
    if (signal.aborted) return
    const socket = connect(port, '127.0.0.1')
    sockets.add(socket)
    let received = Buffer.alloc(0)
    socket.on('connect', () => ask(socket))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      for (let size = sizeOf(received); size > 0 && size <= received.length; size = sizeOf(received)) {
        done++
        if (!received.subarray(9, 12).toString().startsWith('2')) refused++
        received = received.subarray(size)
        ask(socket)
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      setTimeout(open, AGAIN)
    })
  }
  for (let at = 0; at < connections; at++) open()
  await aborted(signal)
  for (const socket of sockets) socket.destroy()
  return { done, refused }
}

/** Connections that send `first` and then wait; those that the gateway closes are reopened periodically. */
export async function holdOpen(
  { port, signal }: AttackSetup,
  connections: number,
  first: Buffer,
): Promise<AttackCount> {
  return keepOpen(port, signal, connections, first, new Set())
}

/**
 * The same as {@link holdOpen} for responses without an end: a request that the gateway ends or refuses is
 * sent again.
 */
export async function askAgain(
  setup: AttackSetup,
  connections: number,
  request: Buffer,
): Promise<AttackCount> {
  const { port, signal } = setup
  const sockets = new Set<Socket>()
  let ended = 0
  const watched = new WeakSet<Socket>()
  const timer = setInterval(() => {
    for (const socket of sockets) {
      if (watched.has(socket)) continue
      watched.add(socket)
      socket.on('data', (chunk: Buffer) => {
        if (!chunk.includes('0\r\n\r\n') && !chunk.includes('HTTP/1.1 5')) return
        ended++
        setTimeout(() => socket.writable && socket.write(request), AGAIN)
      })
    }
  }, AGAIN / 2)
  const { done, refused } = await keepOpen(port, signal, connections, request, sockets)
  clearInterval(timer)
  return { done: done + ended, refused: refused + ended }
}

/** @param sockets the open ones, for the caller to write to */
async function keepOpen(
  port: number,
  signal: AbortSignal,
  connections: number,
  first: Buffer,
  sockets: Set<Socket>,
): Promise<AttackCount> {
  let [done, refused] = [0, 0]
  while (!signal.aborted) {
    for (let at = 0; at < 100 && sockets.size < connections; at++) {
      const socket = connect(port, '127.0.0.1', () => {
        done++
        socket.write(first)
      })
      sockets.add(socket)
      socket.on('error', () => {}).resume()
      socket.on('close', () => {
        refused++
        sockets.delete(socket)
      })
    }
    await sleep(AGAIN)
  }
  for (const socket of sockets) socket.removeAllListeners('close').destroy()
  return { done, refused }
}

/** Milliseconds between two batches of requests, and from a request to its cancellation. */
const BATCH_INTERVAL = 20
const CANCELLED_AFTER = 40

/**
 * Requests whose connections are closed before a response.
 *
 * @param batch the number of requests at once, fifty times per second
 */
export async function cancel(
  { port, signal }: AttackSetup,
  batch: number,
  request: Buffer,
  localAddress = '127.0.0.1',
): Promise<AttackCount> {
  let [done, refused] = [0, 0]
  const begin = () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => {
      socket.write(request)
      setTimeout(() => socket.resetAndDestroy(), CANCELLED_AFTER)
      done++
    })
    socket.once('data', () => refused++).on('error', () => {})
  }
  while (!signal.aborted) {
    for (let at = 0; at < batch; at++) begin()
    await sleep(BATCH_INTERVAL)
  }
  return { done, refused }
}

/** Continuous uploads, `part` at a time. */
export async function trickle(
  setup: AttackSetup,
  connections: number,
  first: Buffer,
  part: Buffer,
  every: number,
): Promise<AttackCount> {
  const { port, signal } = setup
  const sockets = new Set<Socket>()
  const timer = setInterval(() => {
    for (const socket of sockets) socket.write(part)
  }, every)
  const count = await keepOpen(port, signal, connections, first, sockets)
  clearInterval(timer)
  return count
}

/** Length of the first response; 0 while its header section is incomplete. */
function sizeOf(received: Buffer): number {
  const end = received.indexOf(HEAD_END)
  if (end < 0) return 0
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.subarray(0, end).toString('latin1'))
  return end + HEAD_END.length + Number(length?.[1] ?? 0)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
}
