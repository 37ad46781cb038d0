/** Three instances of Seatgate on PostgreSQL and Redis. */

import { type Fleet, SPACE, startFleet } from '../../test/fleet/fleet.ts'
import { placeAt, type RunningStalenessPeer, type StalenessPeer } from './staleness-peer.ts'

function seatgate(name: string, breaks: boolean): StalenessPeer {
  return {
    name,
    label: `Seatgate${breaks ? ', Redis is killed' : ''}`,
    configuration: `three instances, PostgreSQL and Redis, default settings${breaks ? '; Redis is killed for half of the run' : ''}`,
    async start(ending): Promise<RunningStalenessPeer> {
      const fleet = await startFleet(ending.t)
      const made = await admin(fleet, 0, 'POST', '/v1/seats', { name: 'A', spaces: [SPACE], permissions: [] })
      const key = await admin(fleet, 0, 'POST', '/v1/api-keys', { name: 'k', seats: ['A'] })
      let gone = false
      return {
        places: fleet.gateways.map(({ port }) => placeAt(ending, `127.0.0.1:${port}`, port, '/v1/canary')),
        caller: { 'x-api-key': String(key['key']), space: SPACE },
        async write(allow, turn) {
          const permissions = allow ? ['canary:read'] : []
          await admin(fleet, turn % fleet.gateways.length, 'PUT', `/v1/seats/${String(made['id'])}`, {
            permissions,
          })
        },
        ...(breaks
          ? {
              async fault() {
                gone = !gone
                await (gone ? fleet.redis.kill() : fleet.redis.restart({ empty: true }))
              },
            }
          : {}),
      }
    },
  }
}

/** @throws without a 2xx */
async function admin(fleet: Fleet, at: number, method: string, path: string, body: unknown) {
  const answer = await fleet.admin(fleet.at(at), method, path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`)
  return answer.json as Record<string, unknown>
}

export const seatgates: readonly StalenessPeer[] = [
  seatgate('seatgate', false),
  seatgate('seatgate-no-redis', true),
]
