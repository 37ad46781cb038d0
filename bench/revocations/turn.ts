/**
 * One revocation of a user who has WebSockets and downloads open at every instance: when it was answered, when each
 * instance refused each old credential, and when the clients saw the ends.
 */

import { Pool } from 'undici'
import type { Ending } from '../harness.ts'
import { SPACE, type Fleet } from '../../test/fleet/fleet.ts'
import type { FleetGateway } from '../../test/fleet/gateway.ts'
import { served } from '../../test/support/served.ts'
import { until } from '../../test/support/until.ts'
import { type OpenExchange, openExchange } from './open-exchange.ts'

type Credential = Readonly<Record<string, string>>

/** The credentials of a user: a token without a session, one with, and an API key. */
interface User {
  readonly sub: string
  readonly credentials: readonly [token: Credential, session: Credential, key: Credential]
}

export interface Turn {
  /** Milliseconds from the request to its answer. */
  readonly answer: number
  /** Milliseconds from the request until no instance that runs accepted an old credential; null: not asked. */
  readonly refused: number | null
  /** Milliseconds from the time of the transaction, which is before its commit, to each end that a client saw. */
  readonly cuts: readonly number[]
  /** The same of the frozen instance, from when it went on. */
  readonly thawed: readonly number[]
  readonly state: string
  /** Requests that began after the answer, and were accepted with an old credential. */
  readonly stale: number
}

export interface TurnOptions {
  /** The number of the turn: turns are answered by the instances one after another. */
  readonly at: number
  /** Whether the old credentials are used from the request to the answer, which costs CPU time. */
  readonly asks: boolean
  /** An instance that is stopped before the request and goes on after the answer; null: none. */
  readonly frozen: FleetGateway | null
}

export class Revoker {
  readonly #fleet: Fleet
  readonly #seat: string
  readonly #pools: ReadonlyMap<FleetGateway, Pool>

  private constructor(fleet: Fleet, seat: string, ending: Ending) {
    this.#fleet = fleet
    this.#seat = seat
    this.#pools = new Map(
      fleet.gateways.map((gateway) => {
        const pool = new Pool(`http://127.0.0.1:${gateway.port}`, { connections: 8 })
        ending.teardown(() => pool.destroy())
        return [gateway, pool]
      }),
    )
  }

  static async start(ending: Ending, fleet: Fleet): Promise<Revoker> {
    return new Revoker(fleet, (await fleet.makeSeat(fleet.first, 'Opener')).name, ending)
  }

  get seat(): string {
    return this.#seat
  }

  async turn({ at, asks, frozen }: TurnOptions): Promise<Turn> {
    const { gateways } = this.#fleet
    const running = gateways.filter((gateway) => gateway !== frozen)
    const writer = running[at % running.length] ?? this.#fleet.first
    const user = await this.#user(`user ${crypto.randomUUID()}`)
    const exchanges = await Promise.all(
      gateways.map(async (gateway) => ({ gateway, open: await openAll(gateway, user) })),
    )
    await frozen?.freeze()
    const begun = performance.now()
    let answered = Infinity
    const asking = asks ? running.map((gateway) => this.#askUntilRefused(gateway, user, begun)) : []
    const revoked = await this.#revoke(writer, user.sub)
    answered = performance.now()
    const stale = await Promise.all(running.map((gateway) => this.#acceptedOf(gateway, user)))
    const refused = asks ? Math.max(...(await Promise.all(asking))) : null
    const thawedAt = Date.now()
    frozen?.thaw()
    const endsOf = (which: (gateway: FleetGateway) => boolean, from: number) =>
      Promise.all(
        exchanges
          .filter(({ gateway }) => which(gateway))
          .flatMap(({ open }) => open)
          .map(async ({ end }) => (await end) - from),
      )
    const cuts = await endsOf((gateway) => gateway !== frozen, Date.parse(revoked.at))
    const thawed = await endsOf((gateway) => gateway === frozen, thawedAt)
    if (frozen !== null) stale.push(await this.#settled(frozen, user))
    for (const { open } of exchanges) for (const each of open) each.close()
    return {
      answer: answered - begun,
      refused,
      cuts,
      thawed,
      state: revoked.state,
      stale: stale.reduce((sum, count) => sum + count, 0),
    }
  }

  /** A user whose credentials every instance has used. */
  async #user(sub: string): Promise<User> {
    const hashPerm = [`${SPACE}:${this.#seat}`]
    const key = await this.#post(this.#fleet.first, '/v1/api-keys', {
      name: sub,
      seats: [this.#seat],
      owner: sub,
    })
    const { token } = await this.#fleet.session({ user: sub, providerSid: sub, hashPerm })
    const bearing = (token: string) => ({ authorization: `Bearer ${token}`, space: SPACE })
    const plain = await this.#fleet.token(hashPerm, sub)
    const user: User = {
      sub,
      credentials: [bearing(plain), bearing(token), { 'x-api-key': String(key['key']), space: SPACE }],
    }
    for (const gateway of this.#fleet.gateways)
      if ((await this.#acceptedOf(gateway, user)) !== user.credentials.length)
        throw new Error('a credential is refused before its revocation')
    return user
  }

  async #revoke(gateway: FleetGateway, sub: string) {
    const { at, state } = await this.#post(gateway, '/v1/revocations', { subject: { user: sub } })
    return { at: String(at), state: String(state) }
  }

  async #post(gateway: FleetGateway, path: string, body: unknown): Promise<Record<string, unknown>> {
    const headers = { 'x-api-key': this.#fleet.key, space: 'admin', 'content-type': 'application/json' }
    const answer = await this.#poolOf(gateway).request({
      method: 'POST',
      path,
      headers,
      body: JSON.stringify(body),
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`)
    return JSON.parse(text)
  }

  /** Resolves with the ms from `begun` until the credentials were refused, each at its first refusal. */
  async #askUntilRefused(gateway: FleetGateway, { credentials }: User, begun: number): Promise<number> {
    let left = [...credentials]
    while (left.length > 0) {
      const accepted: Credential[] = []
      for (const credential of left) if (await this.#accepts(gateway, credential)) accepted.push(credential)
      left = accepted
    }
    return performance.now() - begun
  }

  /** The number of credentials that the instance accepts. */
  async #acceptedOf(gateway: FleetGateway, { credentials }: User): Promise<number> {
    let accepted = 0
    for (const credential of credentials) if (await this.#accepts(gateway, credential)) accepted++
    return accepted
  }

  async #accepts(gateway: FleetGateway, headers: Credential): Promise<boolean> {
    const ask = async () => {
      const answer = await this.#poolOf(gateway).request({ method: 'GET', path: '/v1/trainings', headers })
      await answer.body.dump()
      return { status: answer.statusCode }
    }
    return (await served(ask)).status === 200
  }

  /** The number of credentials that an instance accepts that has been frozen, once all instances are ready. */
  async #settled(gateway: FleetGateway, user: User): Promise<number> {
    const accepted = await this.#acceptedOf(gateway, user)
    await until(async () => (await gateway.ready())['status'] === 'ready', 'the readiness of an instance')
    return accepted
  }

  #poolOf(gateway: FleetGateway): Pool {
    const pool = this.#pools.get(gateway)
    if (pool === undefined) throw new Error(`gateway ${gateway.name} is not of this fleet`)
    return pool
  }
}

/** Two WebSockets and two downloads: each credential has one at least. */
function openAll(
  { port }: FleetGateway,
  { credentials: [token, session, key] }: User,
): Promise<OpenExchange[]> {
  return Promise.all([
    openExchange(port, 'websocket', token),
    openExchange(port, 'websocket', session),
    openExchange(port, 'stream', session),
    openExchange(port, 'stream', key),
  ])
}
