/**
 * Ports for servers that are told their port and come back on it. A port stays reserved while its server is
 * down: no other test process takes it, and the system gives it to no socket.
 */

import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import type { Test } from 'tap'

/**
 * Below the ports that Linux and macOS choose (from 32768 and 49152), and above 10080, which `fetch` refuses
 * (Fetch Standard, "port blocking").
 */
const FIRST = 10_100
const COUNT = 4_900
/**
 * The distance of a guard. A listener there reserves the port for its process, and ends with it, even if that
 * is killed.
 */
const GUARD = 5_000
/** The distance of the port on which a node of a Redis cluster listens for the others. */
export const CLUSTER_BUS = 10_000

/** Reserves a port of 127.0.0.1, and the port of the cluster bus with it, until the end of the test. */
export async function reservePort(t: Pick<Test, 'teardown'>): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = FIRST + randomInt(COUNT)
    const guard = await listen(port + GUARD)
    if (guard === null) continue
    if ((await isFree(port)) && (await isFree(port + CLUSTER_BUS))) {
      guard.unref()
      t.teardown(() => guard[Symbol.asyncDispose]())
      return port
    }
    await guard[Symbol.asyncDispose]()
  }
  throw new Error('found no free port')
}

/** Starts a server on a reserved port, and on another if a program that does not ask here took it first. */
export async function onReservedPort<T>(t: Test, start: (port: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start(await reservePort(t))
    } catch (error) {
      if (tries === 5 || !/address already in use/i.test(String(error))) throw error
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port)
  await server?.[Symbol.asyncDispose]()
  return server !== null
}

function listen(port: number): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    )
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server))
  })
}
