/**
 * Instances of a gateway in Node.js, a process each, which tell each other of changes by messages of Redis.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RedisServer } from '../../test/support/servers/redis.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import type { Ending } from '../harness.ts'
import { change, placeAt, type RunningStalenessPeer } from './staleness-peer.ts'

export const CALLER = { authorization: 'alice' }

/**
 * Starts an instance. Resolves with its port.
 *
 * @param setup what the script reads in addition to its port
 */
export async function startInstance<S extends { readonly port: number }>(
  ending: Ending,
  folder: string,
  script: string,
  setup: Omit<S, 'port'>,
): Promise<number> {
  const port = await reservePort(ending.t)
  const file = join(folder, `instance-${port}.json`)
  writeFileSync(file, JSON.stringify({ ...setup, port }), { mode: 0o600 })
  await Program.start(ending, { command: [process.execPath, script, file], port, folder })
  return port
}

interface Running {
  readonly ports: readonly number[]
  readonly redis: RedisServer
  /** Whether the subscriptions break before each write of half of the run. */
  readonly breaks: boolean
  /** The port that takes a write. */
  writesAt(turn: number): number | undefined
}

export function running(ending: Ending, { ports, redis, breaks, writesAt }: Running): RunningStalenessPeer {
  let isBroken = false
  const fault = async () => {
    isBroken = !isBroken
  }
  return {
    places: ports.map((port) => placeAt(ending, port, '/')),
    caller: CALLER,
    async write(allow, turn) {
      if (isBroken) await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await setRight(writesAt(turn), allow)
    },
    ...(breaks && { fault }),
  }
}

/** Grants or revokes the right of the caller at an instance. */
export function setRight(port: number | undefined, allow: boolean): Promise<void> {
  const url = `http://127.0.0.1:${port}/${allow ? 'allow' : 'deny'}`
  return change(url, { method: 'PUT', headers: CALLER })
}
