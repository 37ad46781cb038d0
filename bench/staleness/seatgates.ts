/** Three instances of Seatgate on PostgreSQL and Redis. */

import { SPACE, startFleet } from '../../test/fleet/fleet.ts'
import { placeAt, type RunningStalenessPeer, type StalenessPeer } from './staleness-peer.ts'

function seatgate(name: string, breaks: boolean): StalenessPeer {
  return {
    name,
    label: `Seatgate${breaks ? ', Redis is killed' : ''}`,
    configuration: `three instances, PostgreSQL and Redis, default settings${breaks ? '; Redis is killed for half of the run' : ''}`,
    async start(ending): Promise<RunningStalenessPeer> {
      const fleet = await startFleet(ending.t, { proxies: [], postgres: { fsync: true } })
      const ports = fleet.gateways.map(({ port }) => port)
      const ask = async (at: number, method: string, path: string, body: unknown) => {
        const response = await fetch(`http://127.0.0.1:${ports[at]}${path}`, {
          method,
          headers: { 'x-api-key': fleet.key, space: 'admin', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
        return (await response.json()) as Record<string, unknown>
      }
      const seat = await ask(0, 'POST', '/v1/seats', { name: 'A', spaces: [SPACE], permissions: [] })
      const caller = await ask(0, 'POST', '/v1/api-keys', { name: 'caller', seats: ['A'] })
      let isGone = false
      const fault = async () => {
        isGone = !isGone
        await (isGone ? fleet.redis.kill() : fleet.redis.restart({ empty: true }))
      }
      return {
        places: ports.map((port) => placeAt(ending, port, '/v1/trainings')),
        caller: { 'x-api-key': String(caller['key']), space: SPACE },
        async write(allow, turn) {
          const permissions = allow ? ['trainings:list'] : []
          await ask(turn % ports.length, 'PUT', `/v1/seats/${String(seat['id'])}`, { permissions })
        },
        ...(breaks && { fault }),
      }
    },
  }
}

export const seatgates: readonly StalenessPeer[] = [
  seatgate('seatgate', false),
  seatgate('seatgate-no-redis', true),
]
