/** The identity provider of the company: its requests, and how long each took until 2xx. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Fleet } from '../../test/fleet/fleet.ts'
import type { FleetGateway } from '../../test/fleet/gateway.ts'
import { BASE, GROUP, TOKEN, USER } from '../../test/scim/support.ts'
import { EVENTS } from '../../test/support/transmitter.ts'
import type { Ending } from '../harness.ts'
import type { Group, Person } from './company.ts'

/** `aud` of events. */
export const AUDIENCE = 'https://gw.example'
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const GTR = '/auth/oidc/global-token-revocation/acme'
/** Members that one request adds to a new group. */
const MEMBERS_AT_ONCE = 100
/** Milliseconds after which a request is given up. */
const PATIENCE = 150_000

export const KINDS = [
  'user looked up',
  'user created',
  'group created',
  'members added, 100 at once',
  'member added',
  'member removed',
  'group renamed',
  'SCIM deactivation',
  'Global Token Revocation',
  'event session-revoked',
] as const
export type Kind = (typeof KINDS)[number]

export interface Sent {
  readonly kind: Kind
  /** Milliseconds from the first request until 2xx. */
  readonly ms: number
  readonly requests: number
}

interface Answer {
  readonly status: number
  readonly body: string
}

interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export class Provider {
  /** All that was answered with 2xx since it was last emptied. */
  readonly sent: Sent[] = []
  readonly #fleet: Fleet
  readonly #pools: ReadonlyMap<FleetGateway, Pool>
  #next = 0

  constructor(ending: Ending, fleet: Fleet) {
    this.#fleet = fleet
    this.#pools = new Map(
      fleet.gateways.map((gateway) => {
        const pool = new Pool(`http://127.0.0.1:${gateway.port}`, { connections: 64 })
        ending.teardown(() => pool.destroy())
        return [gateway, pool]
      }),
    )
  }

  /** As Okta and Entra do, it looks for the user first. */
  async createUser(person: Person): Promise<void> {
    const userName = `${person.sub}@acme.example`
    const filter = encodeURIComponent(`userName eq "${userName}"`)
    const lookUp = () => this.#scim('user looked up', 'GET', `/Users?filter=${filter}`)
    await lookUp()
    const body = {
      schemas: [USER],
      userName,
      externalId: person.sub,
      active: true,
      name: { givenName: 'Given', familyName: person.sub },
      emails: [{ primary: true, type: 'work', value: userName }],
    }
    person.id = await this.#create('user created', '/Users', body, lookUp)
  }

  /** Without members at first. */
  async createGroup(group: Group): Promise<void> {
    const body = { schemas: [GROUP], displayName: group.name }
    const filter = encodeURIComponent(`displayName eq "${group.name}"`)
    const lookUp = () => this.#scim('group created', 'GET', `/Groups?filter=${filter}`)
    group.id = await this.#create('group created', '/Groups', body, lookUp)
    const members = [...group.members]
    for (let from = 0; from < members.length; from += MEMBERS_AT_ONCE)
      await this.#members('members added, 100 at once', group, {
        op: 'Add',
        members: members.slice(from, from + MEMBERS_AT_ONCE),
      })
  }

  async add(group: Group, person: Person): Promise<void> {
    await this.#members('member added', group, { op: 'Add', members: [person] })
    group.members.add(person)
  }

  async remove(group: Group, person: Person): Promise<void> {
    await this.#members('member removed', group, { op: 'Remove', members: [person] })
    group.members.delete(person)
  }

  async rename(group: Group, name: string, space: string): Promise<void> {
    await this.#patch('group renamed', `/Groups/${group.id}`, {
      op: 'Replace',
      path: 'displayName',
      value: name,
    })
    group.name = name
    group.space = space
  }

  async deactivate(person: Person): Promise<void> {
    const operation = { op: 'Replace', path: 'active', value: 'False' }
    await this.#patch('SCIM deactivation', `/Users/${person.id}`, operation)
    person.isValid = false
  }

  /** Each repetition sends the same token. */
  async revokeTokens(person: Person): Promise<void> {
    const now = Math.floor(Date.now() / 1000)
    const { issuer } = this.#fleet.provider
    const claims = { iss: issuer, aud: AUDIENCE + GTR, jti: randomUUID(), iat: now, exp: now + 300 }
    const token = await this.#fleet.provider.sign(claims)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const body = JSON.stringify({ sub_id: { format: 'iss_sub', iss: issuer, sub: person.sub } })
    await this.#send('Global Token Revocation', { method: 'POST', path: GTR, headers, body })
    person.isValid = false
  }

  /** Each repetition sends the same token. */
  async sessionRevoked(person: Person): Promise<void> {
    const now = Math.floor(Date.now() / 1000)
    const { issuer } = this.#fleet.provider
    const claims = {
      ...{ iss: issuer, aud: AUDIENCE, jti: randomUUID(), iat: now },
      sub_id: { format: 'iss_sub', iss: issuer, sub: person.sub },
      events: { [EVENTS.sessionRevoked]: { event_timestamp: now } },
    }
    const body = await this.#fleet.provider.sign(claims, { typ: 'secevent+jwt' })
    const headers = { 'content-type': 'application/secevent+jwt', accept: 'application/json' }
    await this.#send('event session-revoked', { method: 'POST', path: '/auth/ssf/acme', headers, body })
    person.isValid = false
  }

  /** @returns the id, by a look-up if a request that was answered with 503 has made the resource */
  async #create(kind: Kind, path: string, body: object, lookUp: () => Promise<Answer>): Promise<string> {
    const answer = await this.#scim(kind, 'POST', path, body)
    return idOf(answer.status === 409 ? await lookUp() : answer)
  }

  #members(kind: Kind, { id }: Group, { op, members }: { op: string; members: readonly Person[] }) {
    const value = members.map((person) => ({ value: person.id }))
    return this.#patch(kind, `/Groups/${id}`, { op, path: 'members', value })
  }

  #patch(kind: Kind, path: string, operation: object): Promise<Answer> {
    return this.#scim(kind, 'PATCH', path, { schemas: [PATCH], Operations: [operation] })
  }

  #scim(kind: Kind, method: Request['method'], path: string, body?: object): Promise<Answer> {
    const type = body === undefined ? {} : { 'content-type': 'application/scim+json' }
    const headers = { authorization: `Bearer ${TOKEN}`, ...type }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return this.#send(kind, { method, path: BASE + path, headers, ...sent })
  }

  /**
   * Sends a request to the instances in turn, and again until 2xx: after 503 when `Retry-After` has passed, after a
   * failed connection at once. A repetition may be a 409, if the first request made the resource.
   */
  async #send(kind: Kind, request: Request): Promise<Answer> {
    const begun = performance.now()
    for (let requests = 1; ; requests++) {
      const { status, body, wait } = await this.#once(request)
      const ms = performance.now() - begun
      if ((status >= 200 && status < 300) || (status === 409 && requests > 1)) {
        this.sent.push({ kind, ms, requests })
        return { status, body }
      }
      if (status !== 503 || ms > PATIENCE) throw new Error(`${kind}: ${status} ${body}`)
      await sleep(wait)
    }
  }

  /** A failed connection is a 503: what was sent on it may have been done. */
  async #once(request: Request): Promise<Answer & { readonly wait: number }> {
    try {
      const { statusCode, headers, body } = await this.#pool().request(request)
      const wait = 1000 * Number(headers['retry-after'] ?? 1)
      return { status: statusCode, body: await body.text(), wait }
    } catch (cause) {
      return { status: 503, body: String(cause), wait: 10 }
    }
  }

  /** The instances that are up, as a load balancer with health checks has them. */
  #pool(): Pool {
    const up = this.#fleet.gateways.filter(({ awake }) => awake)
    const gateway = up[this.#next++ % up.length]
    const pool = gateway && this.#pools.get(gateway)
    if (pool === undefined) throw new Error('no instance is up')
    return pool
  }
}

function idOf({ body }: Answer): string {
  const { id, Resources: [{ id: listed = null } = {}] = [] } = JSON.parse(body)
  if (typeof listed === 'string') return listed
  if (typeof id !== 'string') throw new Error(`an answer without an id: ${body}`)
  return id
}
