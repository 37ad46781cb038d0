/** Requests with the credentials of users at every instance, compared with what the latest 2xx says. */

import { Pool } from 'undici'
import type { Fleet } from '../../test/fleet/fleet.ts'
import type { FleetGateway } from '../../test/fleet/gateway.ts'
import { served } from '../../test/support/served.ts'
import { type Ending, say } from '../harness.ts'
import type { Group, Person } from './company.ts'

export type Credential = Readonly<Record<string, string>>

/** Milliseconds within which an instance answers that is not frozen. */
const PATIENCE = 30_000

export class Probes {
  /** Decisions that were compared. */
  checked = 0
  /** Decisions by a state that a 2xx had ended. */
  stale = 0
  readonly #fleet: Fleet
  readonly #pools: ReadonlyMap<FleetGateway, Pool>
  readonly #tokens = new Map<Person, string>()

  constructor(ending: Ending, fleet: Fleet) {
    this.#fleet = fleet
    this.#pools = new Map(
      fleet.gateways.map((gateway) => {
        const origin = `http://127.0.0.1:${gateway.port}`
        const pool = new Pool(origin, { connections: 32, headersTimeout: PATIENCE })
        ending.teardown(() => pool.destroy())
        return [gateway, pool]
      }),
    )
  }

  /** A token without a session and without entries of `hash_perm`, made at its first use. */
  async tokenOf(person: Person): Promise<string> {
    const token = this.#tokens.get(person) ?? (await this.#fleet.token([], person.sub))
    this.#tokens.set(person, token)
    return token
  }

  /** Compares the first decision of each instance that is up with what the groups say now. */
  async check(person: Person, group: Pick<Group, 'space' | 'members'>): Promise<void> {
    const isAllowed = person.isValid && group.members.has(person)
    await this.expect(person.sub, await this.#credential(person, group.space), isAllowed)
  }

  /** @param who has the credential: a stale decision is reported */
  async expect(who: string, credential: Credential, isAllowed: boolean): Promise<void> {
    const asked = this.#fleet.gateways.filter(({ awake }) => awake)
    const answers = await Promise.all(asked.map((gateway) => this.#accepts(gateway, credential)))
    this.checked += answers.length
    for (const [at, accepted] of answers.entries()) {
      if (accepted === isAllowed) continue
      this.stale++
      say(`stale: ${asked[at]?.name} ${accepted ? 'allows' : 'refuses'} ${who} in ${credential['space']}`)
    }
  }

  /**
   * A change between two decisions of each instance, which has the former state in memory by the first.
   *
   * @param groups that the decisions are about
   */
  async around(person: Person, groups: readonly Group[], change: () => Promise<void>): Promise<void> {
    const before = groups.map(({ space, members }) => ({ space, members }))
    for (const group of before) await this.check(person, group)
    await change()
    await Promise.all(groups.map((group) => this.check(person, group)))
  }

  async #credential(person: Person, space: string): Promise<Credential> {
    return { authorization: `Bearer ${await this.tokenOf(person)}`, space }
  }

  async #accepts(gateway: FleetGateway, headers: Credential): Promise<boolean> {
    const pool = this.#pools.get(gateway)
    if (pool === undefined) throw new Error(`gateway ${gateway.name} is not of this fleet`)
    const ask = async () => {
      const answer = await pool.request({ method: 'GET', path: '/v1/trainings', headers })
      await answer.body.dump()
      return { status: answer.statusCode }
    }
    return (await served(ask)).status === 200
  }
}
