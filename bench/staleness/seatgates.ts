/** Three instances of Seatgate on PostgreSQL and Redis. */

import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrapTenant, isRefusal, openStore } from '../../seats-admin/index.ts'
import { writeConfiguration } from '../../test/support/configuration.ts'
import type { Ending } from '../scale/ending.ts'
import { ScaleGateway } from '../scale/gateway.ts'
import { startServers } from '../scale/servers.ts'
import { placeAt, type RunningStalenessPeer, type StalenessPeer } from './staleness-peer.ts'

const INSTANCES = 3
const TENANT = 'acme'
const SPACE = 'main'

function seatgate(name: string, breaks: boolean): StalenessPeer {
  return {
    name,
    label: `Seatgate${breaks ? ', Redis is killed' : ''}`,
    configuration: `three instances, PostgreSQL and Redis, default settings${breaks ? '; Redis is killed for half of the run' : ''}`,
    async start(ending, folder): Promise<RunningStalenessPeer> {
      const { postgres, redis } = await startServers(ending)
      const database = await postgres.createDatabase('staleness')
      const key = await administratorOf(database)
      const urls: string[] = []
      for (let at = 0; at < INSTANCES; at++)
        urls.push(await startInstance(ending, join(folder, `instance-${at}`), database, redis.url))
      const ask = async (at: number, method: string, path: string, body: unknown) => {
        const response = await fetch(`${urls[at]}${path}`, {
          method,
          headers: { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
        return (await response.json()) as Record<string, unknown>
      }
      const seat = await ask(0, 'POST', '/v1/seats', { name: 'A', spaces: [SPACE], permissions: [] })
      const caller = await ask(0, 'POST', '/v1/api-keys', { name: 'caller', seats: ['A'] })
      let gone = false
      return {
        places: urls.map((url) => placeAt(ending, url, Number(new URL(url).port), '/v1/canary')),
        caller: { 'x-api-key': String(caller['key']), space: SPACE },
        async write(allow, turn) {
          const permissions = allow ? ['canary:read'] : []
          await ask(turn % INSTANCES, 'PUT', `/v1/seats/${String(seat['id'])}`, { permissions })
        },
        ...(breaks
          ? {
              async fault() {
                gone = !gone
                await (gone ? redis.kill() : redis.restart({ empty: true }))
              },
            }
          : {}),
      }
    },
  }
}

/** The API key of the tenant's administrator. */
async function administratorOf(database: string): Promise<string> {
  const store = await openStore({ kind: 'postgres', url: database })
  try {
    const made = await bootstrapTenant(store, { tenant: TENANT, adminSpace: 'admin', now: Date.now() })
    if (isRefusal(made)) throw new Error(made.detail)
    return made.key
  } finally {
    await store.close()
  }
}

/** Its URL. */
async function startInstance(ending: Ending, folder: string, store: string, redis: string): Promise<string> {
  mkdirSync(folder)
  const file = writeConfiguration(folder, { store, top: [`redis: ${JSON.stringify(redis)}`] })
  const secrets = ['ACME_SECRET', 'GLOBEX_SECRET'].map(
    (name) => `${name}=${randomBytes(32).toString('hex')}\n`,
  )
  writeFileSync(join(folder, '.env'), secrets.join(''), { mode: 0o600 })
  const gateway = await ScaleGateway.start(file, folder)
  ending.teardown(() => gateway.stop())
  return gateway.url
}

export const seatgates: readonly StalenessPeer[] = [
  seatgate('seatgate', false),
  seatgate('seatgate-no-redis', true),
]
