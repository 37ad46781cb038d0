/** Instances of a gateway in Node.js, a process each, which tell each other of changes by messages of Redis. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RedisServer } from '../../test/support/servers/redis.ts'
import { freePort, Program } from '../program.ts'
import type { Ending } from '../scale/ending.ts'
import { change, placeAt, type RunningStalenessPeer } from './staleness-peer.ts'

const CALLER = { authorization: 'alice' }

/** @param setup what the script reads besides its port @returns its port */
export async function startInstance<S extends { readonly port: number }>(
  ending: Ending,
  folder: string,
  script: string,
  setup: Omit<S, 'port'>,
): Promise<number> {
  const port = await freePort()
  const file = join(folder, `instance-${port}.json`)
  writeFileSync(file, JSON.stringify({ ...setup, port }), { mode: 0o600 })
  const program = await Program.start({
    command: [process.execPath, script, file],
    port,
    cores: null,
    folder,
  })
  ending.teardown(() => program.stop())
  return port
}

interface Running {
  readonly ports: readonly number[]
  readonly redis: RedisServer
  /** The subscriptions break before each write of half of the run. */
  readonly breaks: boolean
  /** The port that takes a write. */
  writesAt(turn: number): number | undefined
}

export function running(ending: Ending, { ports, redis, breaks, writesAt }: Running): RunningStalenessPeer {
  let broken = false
  return {
    places: ports.map((port) => placeAt(ending, `127.0.0.1:${port}`, port, '/')),
    caller: CALLER,
    async write(allow, turn) {
      if (broken) await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      const url = `http://127.0.0.1:${writesAt(turn)}/${allow ? 'allow' : 'deny'}`
      await change(url, { method: 'PUT', headers: CALLER })
    },
    ...(breaks
      ? {
          async fault() {
            broken = !broken
          },
        }
      : {}),
  }
}
