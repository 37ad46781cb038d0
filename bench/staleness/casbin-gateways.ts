/** Two instances of a gateway in Node.js that decides with casbin. */

import { fileURLToPath } from 'node:url'
import { startPostgres } from '../../test/support/servers/postgres.ts'
import { startRedis } from '../../test/support/servers/redis.ts'
import { missing } from '../own-packages.ts'
import { running, startInstance } from './gateway-instances.ts'
import type { CasbinSetup, RunningStalenessPeer, StalenessPeer } from './staleness-peer.ts'

const SCRIPT = fileURLToPath(new URL('../servers/casbin-gateway.ts', import.meta.url))
const INSTANCES = 2

function casbin(name: string, breaks: boolean): StalenessPeer {
  return {
    name,
    label: `casbin with the watcher of Redis${breaks ? ', the subscription breaks' : ''}`,
    configuration: `two instances, casbin-pg-adapter, @casbin/redis-watcher, newSyncedEnforcer; one instance takes all writes, and answers once the message of the watcher is published${breaks ? '; CLIENT KILL TYPE pubsub before each write of half of the run' : ''}`,
    every: 3,
    unavailable: () => missing('casbin', 'casbin-pg-adapter', '@casbin/redis-watcher'),
    async start(ending, folder): Promise<RunningStalenessPeer> {
      const redis = await startRedis(ending.t)
      const store = await (await startPostgres(ending.t)).createDatabase('casbin')
      const ports: number[] = []
      for (let at = 0; at < INSTANCES; at++) {
        const setup = { redis: redis.url, store, migrates: at === 0 }
        ports.push(await startInstance<CasbinSetup>(ending, folder, SCRIPT, setup))
      }
      return running(ending, { ports, redis, breaks, writesAt: () => ports[0] })
    },
  }
}

export const casbinPeers: readonly StalenessPeer[] = [
  casbin('casbin-watcher', false),
  casbin('casbin-watcher-broken', true),
]
