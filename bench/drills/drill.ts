/** What fails while `seatgate verify` watches a fleet: the drills of docs/verify.md. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet, FleetOptions } from '../../test/fleet/fleet.ts'
import type { Ending } from '../harness.ts'

/** The times of a drill, in ms. */
export interface DrillTimes {
  /** The time that something is away. */
  readonly away: number
  /** The time that everything is there before the next failure. */
  readonly rest: number
}

export interface Drill {
  readonly name: string
  readonly label: string
  /** The options of the fleet. */
  readonly fleet?: FleetOptions
  /** Whether only the address of HAProxy is asked, and not each instance. */
  readonly frontAlone?: boolean
  /** The number of failures; left out: as many as the run has time for. */
  readonly most?: number
  /**
   * One failure, after which everything is there again. It is repeated while the run lasts. Left out: nothing
   * fails.
   *
   * @param turn counts from 0
   * @param ending ends servers that it starts
   */
  fail?(fleet: Fleet, turn: number, times: DrillTimes, ending: Ending): Promise<void>
}

/** The primary keeps its log for a standby that begins late. */
const KEPT = ['wal_keep_size = 512MB']

function gatewayOf({ gateways }: Fleet, turn: number) {
  const gateway = gateways[turn % gateways.length]
  if (gateway === undefined) throw new Error('the fleet has no gateway')
  return gateway
}

/** A failover. Each turn has a primary of its own: the standby of the turn before. */
function failover(): NonNullable<Drill['fail']> {
  let primary: Fleet['postgres'] | null = null
  return async (fleet, _, { away }, { t }) => {
    primary ??= fleet.postgres
    const standby = await primary.startStandby(t)
    await primary.kill()
    await sleep(away / 4)
    await standby.promote()
    fleet.address?.lead(standby)
    primary = standby
  }
}

export const drills: readonly Drill[] = [
  { name: 'none', label: 'nothing fails' },
  {
    name: 'redis',
    label: 'Redis stopped, and back',
    async fail({ redis }, _, { away }) {
      await redis.stop()
      await sleep(away)
      await redis.restart()
    },
  },
  {
    name: 'frozen',
    label: 'a gateway frozen (SIGSTOP)',
    async fail(fleet, turn, { away }) {
      const gateway = gatewayOf(fleet, turn)
      await gateway.freeze()
      await sleep(away)
      gateway.thaw()
    },
  },
  {
    name: 'network-cut',
    label: 'a gateway cut off from PostgreSQL and Redis',
    fleet: { proxies: ['store', 'redis'] },
    async fail(fleet, turn, { away }) {
      const { toStore, toRedis } = gatewayOf(fleet, turn)
      const lines = [toStore, toRedis].filter((line) => line !== null)
      // In every second turn, packets get lost, and no connection is reset.
      if (turn % 2 === 1) for (const line of lines) line.freeze()
      else await Promise.all(lines.map((line) => line.cut()))
      await sleep(away)
      await Promise.all(lines.map((line) => line.heal()))
    },
  },
  {
    name: 'rolling-upgrade',
    label: 'each gateway ended (SIGTERM) and started, one by one',
    async fail({ gateways }, _, { rest }) {
      for (const gateway of gateways) {
        await gateway.end()
        await gateway.start()
        // The balancer takes it back.
        await sleep(rest / 4)
      }
    },
  },
  {
    name: 'failover',
    label: 'PostgreSQL killed, and its synchronous standby promoted',
    fleet: { oneAddress: true, postgres: { fsync: true, settings: KEPT } },
    // A standby begins with an empty server, and follows through the timelines of this many promotions.
    most: 3,
    fail: failover(),
  },
  {
    name: 'haproxy-alone',
    label: 'nothing fails; one gateway, asked through HAProxy alone',
    fleet: { gateways: 1 },
    frontAlone: true,
  },
]
