/** A fleet whose tables are in the store, with readers at each instance, and its pushes. */

import { Pool } from 'undici'
import { type Fleet, startFleet } from '../../test/fleet/fleet.ts'
import type { FleetGateway } from '../../test/fleet/gateway.ts'
import { adminRequest } from '../../test/support/client.ts'
import { until } from '../../test/support/until.ts'
import type { Ending } from '../harness.ts'
import { now, type Probe, Prober } from './probers.ts'
import { GATE_STATUS, routeFiles } from './route-files.ts'

/** Decisions of an instance after an answer that are looked at. */
const CHECKED = 5
/** Milliseconds until each instance has them, on a busy machine. */
const PATIENCE = 120_000

interface FleetShape {
  readonly instances: number
  readonly redis: boolean
  /** Requests that are sent to an instance at the same time. */
  readonly readers: number
  /** Whether each instance reaches the servers through a proxy of its own. */
  readonly proxies?: boolean
}

/** Times in ms since the epoch. */
export interface Push {
  readonly began: number
  readonly answered: number
  /** The commits of the candidate and of the activation, as PostgreSQL says. */
  readonly proposed: number
  readonly activated: number
  /** The statuses at the route before it, and from it on. */
  readonly former: number
  readonly next: number
}

export class PushedFleet {
  readonly fleet: Fleet
  readonly probers: ReadonlyMap<FleetGateway, Prober>
  readonly #pools: ReadonlyMap<FleetGateway, Pool>
  #isOpen = false
  #routes = 0

  private constructor(ending: Ending, fleet: Fleet, readers: number) {
    this.fleet = fleet
    this.#pools = new Map(fleet.gateways.map((gateway) => [gateway, poolOf(ending, gateway)]))
    const start = (gateway: FleetGateway) => Prober.start(ending, gateway.port, readers)
    this.probers = new Map(fleet.gateways.map((gateway) => [gateway, start(gateway)]))
  }

  static async start(
    ending: Ending,
    { instances, redis, readers, proxies = false }: FleetShape,
  ): Promise<PushedFleet> {
    const fleet = await startFleet(ending.t, {
      gateways: instances,
      redis: redis ? 'own' : 'none',
      proxies: proxies ? ['store', 'redis'] : [],
      postgres: { fsync: true, settings: ['track_commit_timestamp = on'] },
      tablesFrom: 'store',
    })
    return new PushedFleet(ending, fleet, readers)
  }

  /** Pushes tables of this size, and forgets what was read until then. */
  async resize(routes: number): Promise<void> {
    this.#routes = routes
    // Twice: code is compiled, and the measured pushes change one route.
    for (let time = 0; time < 2; time++) await this.settled(await this.push(this.fleet.first))
    for (const prober of this.probers.values()) prober.take()
  }

  /**
   * Opens or closes the route. Resolves with the 200; rejects with any other answer, or without one.
   *
   * @param during what happens while the push is under way
   */
  async push(gateway: FleetGateway, during?: () => Promise<void>): Promise<Push> {
    const isOpen = !this.#isOpen
    const tag = await this.#tag(gateway)
    const files = routeFiles(this.#routes, isOpen)
    const [headers, body = ''] = adminRequest(this.fleet.key, { files })
    const began = now()
    const pushing = this.#poolOf(gateway).request({
      ...{ method: 'PUT', path: '/v1/tables', body },
      headers: { ...headers, 'if-match': tag },
    })
    // What happens meanwhile may end the connection before it is awaited.
    pushing.catch(() => {})
    await during?.()
    const answer = await pushing
    const answered = now()
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`PUT /v1/tables: ${answer.statusCode} ${text}`)
    this.#isOpen = isOpen
    const [former, next] = isOpen
      ? [GATE_STATUS.closed, GATE_STATUS.open]
      : [GATE_STATUS.open, GATE_STATUS.closed]
    return { began, answered, ...(await this.#commits()), former, next }
  }

  /** Resolves once instances that are up have decided a few requests that began after the answer. */
  async settled({ answered, next }: Push, gateways = this.fleet.gateways): Promise<void> {
    for (const gateway of gateways.filter(({ awake }) => awake))
      await until(
        () =>
          this.#probesOf(gateway).filter(({ began, status }) => began > answered && status === next).length >=
          CHECKED,
        () => `${gateway.name} does not decide by the tables that were pushed:\n${gateway.remarks}`,
        { patience: PATIENCE },
      )
  }

  #probesOf(gateway: FleetGateway): readonly Probe[] {
    return this.probers.get(gateway)?.probes ?? []
  }

  async #tag(gateway: FleetGateway): Promise<string> {
    const [headers] = adminRequest(this.fleet.key)
    const answer = await this.#poolOf(gateway).request({ method: 'GET', path: '/v1/tables', headers })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`GET /v1/tables: ${answer.statusCode} ${text}`)
    return String(answer.headers['etag'])
  }

  /** The times of the newest commits of a candidate and of an activation. */
  async #commits(): Promise<Pick<Push, 'proposed' | 'activated'>> {
    const at = 'extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 * 1000 AS at'
    const newest = async (kind: string) => {
      const text = `SELECT ${at} FROM seatgate.changes WHERE kind = $1 ORDER BY seq DESC LIMIT 1`
      return Number((await this.fleet.query(text, [kind]))[0]?.['at'])
    }
    return { proposed: await newest('tables-candidate'), activated: await newest('tables') }
  }

  #poolOf(gateway: FleetGateway): Pool {
    const pool = this.#pools.get(gateway)
    if (pool === undefined) throw new Error(`gateway ${gateway.name} is not of this fleet`)
    return pool
  }
}

function poolOf(ending: Ending, { port }: FleetGateway): Pool {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 })
  ending.teardown(() => pool.destroy())
  return pool
}
