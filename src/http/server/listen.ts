/** Starts and stops accepting connections. */

import { once } from 'node:events'
import { type AddressInfo, createServer as createNetServer, Server as NetServer } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import type { Address } from '../../config/config.ts'

export interface Listener {
  readonly address: AddressInfo
  /** Stops accepting. Requests in flight have `drain` ms; their responses carry `Connection: close`. */
  close(drain: number): Promise<void>
}

/**
 * Whether the kernel distributes connections (SO_REUSEPORT). Elsewhere node:cluster passes them through the
 * primary process, and a connection on its way to a worker that dies is left hanging.
 */
export const kernelShares = process.platform === 'linux' || process.platform === 'freebsd'

/** What `[::]` gives on a kernel without IPv6. */
const NO_IPV6: ReadonlySet<unknown> = new Set(['EAFNOSUPPORT', 'EINVAL'])

/**
 * `[::]` is every address: on a machine without IPv6 it is every one of IPv4, as one configuration serves
 * nodes of both kinds.
 */
export async function listen(server: NetServer, { host, port }: Address, shared = false): Promise<void> {
  try {
    await listenAt(server, { host, port }, shared)
  } catch (cause) {
    if (host !== '::' || !NO_IPV6.has((cause as NodeJS.ErrnoException).code)) throw cause
    await listenAt(server, { host: '0.0.0.0', port }, shared)
  }
}

function listenAt(server: NetServer, { host, port }: Address, shared: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096, reusePort: shared && kernelShares }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/**
 * Milliseconds of an event loop iteration in which no connection can arrive unseen, and the iterations to
 * wait for one.
 */
const IDLE_ITERATION = 0.03
const MAX_ITERATIONS = 500

/**
 * Resolves when the servers no longer accept; `ended` resolves when the last connection is closed. The kernel
 * resets connections that arrive between the last accept and the close. So the close follows directly on an
 * iteration of the event loop without other work.
 */
export async function stopAccepting(servers: readonly NetServer[]): Promise<{ ended: Promise<unknown> }> {
  await warmUp()
  for (let iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
    const startedAt = performance.now()
    await setImmediate()
    if (performance.now() - startedAt < IDLE_ITERATION) break
  }
  return { ended: Promise.all(servers.map(closed)) }
}

/** The first run compiles the code, which takes longer than all the rest. */
async function warmUp(): Promise<void> {
  const server = createNetServer()
  const listening = once(server, 'listening')
  server.listen({ host: '127.0.0.1', port: 0 })
  await listening.then(
    () => closed(server),
    () => {},
  )
}

function closed(server: NetServer): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()))
}
