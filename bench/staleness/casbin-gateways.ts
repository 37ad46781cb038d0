/** Two instances of a gateway in Node.js that decides with casbin. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../../test/support/servers/postgres.ts'
import { startRedis } from '../../test/support/servers/redis.ts'
import { freePort, Program } from '../program.ts'
import { missing, type Packages } from './peer-packages.ts'
import {
  type CasbinSetup,
  change,
  placeAt,
  type RunningStalenessPeer,
  type StalenessPeer,
} from './staleness-peer.ts'

const PACKAGES: Packages = {
  casbin: '5.51.1',
  'casbin-pg-adapter': '1.4.0',
  '@casbin/redis-watcher': '1.2.0',
}
const SCRIPT = fileURLToPath(new URL('../servers/casbin-gateway.ts', import.meta.url))
const CALLER = { authorization: 'alice' }
const INSTANCES = 2

function casbin(name: string, breaks: boolean): StalenessPeer {
  return {
    name,
    label: `casbin with the watcher of Redis${breaks ? ', the subscription breaks' : ''}`,
    configuration: `two instances, casbin-pg-adapter, @casbin/redis-watcher, newSyncedEnforcer; one instance takes all writes, and answers once the message of the watcher is published${breaks ? '; CLIENT KILL TYPE pubsub before each write of half of the run' : ''}`,
    every: 3,
    unavailable: () => missing(PACKAGES),
    async start(ending, folder): Promise<RunningStalenessPeer> {
      const redis = await startRedis(ending.t)
      const store = await (await startPostgres(ending.t)).createDatabase('casbin')
      const ports: number[] = []
      for (let at = 0; at < INSTANCES; at++) {
        const port = await freePort()
        const file = join(folder, `casbin-${port}.json`)
        const setup: CasbinSetup = { port, redis: redis.url, store, migrates: at === 0 }
        writeFileSync(file, JSON.stringify(setup), { mode: 0o600 })
        const program = await Program.start({
          command: [process.execPath, SCRIPT, file],
          port,
          cores: null,
          folder,
        })
        ending.teardown(() => program.stop())
        ports.push(port)
      }
      let broken = false
      return {
        places: ports.map((port) => placeAt(ending, `127.0.0.1:${port}`, port, '/')),
        caller: CALLER,
        async write(allow) {
          if (broken) await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
          await change(`http://127.0.0.1:${ports[0]}/${allow ? 'allow' : 'deny'}`, {
            method: 'PUT',
            headers: CALLER,
          })
        },
        ...(breaks
          ? {
              async fault() {
                broken = !broken
              },
            }
          : {}),
      }
    },
  }
}

export const casbinPeers: readonly StalenessPeer[] = [
  casbin('casbin-watcher', false),
  casbin('casbin-watcher-broken', true),
]
