/** Listeners: how they come to accept connections, and how they cease to. */

import { once } from 'node:events'
import { type AddressInfo, createServer as createNetServer, Server as NetServer } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import type { Address } from '../../config/config.ts'

export interface Listener {
  readonly address: AddressInfo
  /** No new connections; requests in flight get `drain` ms to finish, and `Connection: close` with their answers. */
  close(drain: number): Promise<void>
}

/**
 * Whether the kernel can share connections out (SO_REUSEPORT). Where it can't, node:cluster does: connections then pass
 * through the primary, and one that is on its way to a worker that dies is left hanging.
 */
export const kernelShares = process.platform === 'linux' || process.platform === 'freebsd'

export function listen(server: NetServer, { host, port }: Address, shared = false): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096, reusePort: shared && kernelShares }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Milliseconds in which nothing can have connected unseen; for how many turns of the event loop they are looked for. */
const IDLE_ITERATION = 0.03
const MAX_ITERATIONS = 500

/**
 * Resolves when nobody can connect any more; `ended`, when the last connection is gone. What connects between the
 * listener's last look at its queue and its end is reset by the kernel: so it ends right after a look, in a turn of the
 * event loop that had nothing else to do.
 */
export async function stopAccepting(server: NetServer): Promise<{ ended: Promise<void> }> {
  await warmUp()
  for (let iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
    const startedAt = performance.now()
    await setImmediate()
    if (performance.now() - startedAt < IDLE_ITERATION) break
  }
  return { ended: closed(server) }
}

/** Code that runs for the first time is compiled first, which takes longer than all the rest. */
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
