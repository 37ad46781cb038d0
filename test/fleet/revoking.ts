/** Revocations at the gateways of a fleet, and what the credentials of their subjects are worth after them. */

import type { OpenCounts } from '../../seats-admin/model/revocation.ts'
import type { Answer } from '../support/client.ts'
import { adminRequest, Client } from '../support/client.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { outcome, REVOCATIONS } from '../revocations/support.ts'
import { type Fleet, SPACE } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { bearing, type Credential, OPENING } from './open-exchanges.ts'

/** An instance in the answer to a revocation. */
export interface AnsweredInstance {
  readonly id: string
  readonly name: string
  readonly how: 'acknowledged' | 'lease_ended' | null
  readonly ms: number | null
  readonly cut: number | null
}

export interface Revoked {
  readonly id: string
  readonly seq: number
  readonly at: string
  readonly state: 'closed' | 'partial'
  readonly ended: Readonly<Record<'sessions' | 'api_keys' | 'websockets' | 'streams' | 'requests', number>>
  readonly instances: readonly AnsweredInstance[]
  readonly receipt: string | null
  readonly warnings?: unknown
}

/** It is not known whether the revocation was made. */
class Unavailable extends Error {}

export class Revoking {
  readonly fleet: Fleet
  readonly #seat: string
  #users = 0

  private constructor(fleet: Fleet, seat: string) {
    this.fleet = fleet
    this.#seat = seat
  }

  /** Makes the Seat of all callers. */
  static async at(fleet: Fleet): Promise<Revoking> {
    const lists = { spaces: [SPACE], permissions: OPENING }
    return new Revoking(fleet, (await fleet.makeSeat(fleet.first, 'Opener', lists)).name)
  }

  /** The `sub` of another user. */
  user(): string {
    return `user ${++this.#users}`
  }

  /** A token of the gateway without a session, as of now. */
  async token(user: string): Promise<Credential> {
    return bearing(await this.fleet.token([`${SPACE}:${this.#seat}`], user))
  }

  /** A token of a new session. */
  async session(user: string): Promise<Credential> {
    const session = { user, providerSid: crypto.randomUUID(), hashPerm: [`${SPACE}:${this.#seat}`] }
    return bearing((await this.fleet.session(session)).token)
  }

  /** A new API key of this owner. */
  async key(owner: string): Promise<Credential> {
    const body = { name: crypto.randomUUID(), seats: [this.#seat], owner }
    const { json } = await served(() => this.fleet.admin(this.fleet.first, 'POST', '/v1/api-keys', body))
    return { 'x-api-key': json.key, space: SPACE }
  }

  /** The answer, of any status. */
  send(gateway: FleetGateway, subject: object, more: object = {}): Promise<Answer> {
    return this.fleet.admin(gateway, 'POST', REVOCATIONS, { subject, ...more })
  }

  /** A revocation that is answered; throws on a refusal. */
  async revoke(gateway: FleetGateway, subject: object, more: object = {}): Promise<Revoked> {
    const { status, body, json } = await this.send(gateway, subject, more)
    if (status === 503) throw new Unavailable(body)
    if (status !== 200) throw new Error(`${status} ${body}`)
    return json
  }

  /** Sends a revocation without waiting for its answer. @returns what closes the connection */
  begin(gateway: FleetGateway, subject: object): () => void {
    const client = new Client(gateway.port)
    const request = adminRequest(this.fleet.key, { subject })
    client.send('POST', REVOCATIONS, ...request).catch(() => {})
    return () => client.close()
  }

  /** What the list of a gateway has about a subject, the newest first. */
  async listed(gateway: FleetGateway, subject: string): Promise<readonly Revoked[]> {
    const path = `${REVOCATIONS}?subject=${encodeURIComponent(subject)}`
    return (await served(() => this.fleet.admin(gateway, 'GET', path))).json.data
  }

  /** As a gateway reads it. */
  async stored(gateway: FleetGateway, id: string): Promise<Revoked> {
    return (await served(() => this.fleet.admin(gateway, 'GET', `${REVOCATIONS}/${id}`))).json
  }

  /** The first decision of each of these gateways about the credential: `allow`, or the code of the refusal. */
  async decisions(credential: Credential, gateways = this.fleet.gateways): Promise<readonly string[]> {
    return Promise.all(gateways.map((gateway) => decisionOf(gateway, credential)))
  }
}

async function decisionOf({ port }: FleetGateway, credential: Credential): Promise<string> {
  const client = new Client(port)
  const answer = await served(() => client.send('GET', '/v1/trainings', credential))
  client.close()
  return outcome(answer)
}

/** The part of an answer about one gateway. */
export function partOf({ instances }: Revoked, { pid, name }: FleetGateway): AnsweredInstance {
  const part = instances.find((each) => each.name.endsWith(` ${pid}`))
  if (part === undefined) throw new Error(`gateway ${name} is not named: ${JSON.stringify(instances)}`)
  return part
}

/** What all instances have cut. */
export function sumOf({ ended: { websockets, streams, requests } }: Revoked): OpenCounts {
  return { websockets, streams, requests }
}

/** Null if a gateway could not serve it: a machine that stands still leaves it without a lease. */
export async function ifServed<V>(attempt: Promise<V>): Promise<V | null> {
  try {
    return await attempt
  } catch (cause) {
    if (cause instanceof Unavailable) return null
    throw cause
  }
}

/**
 * The first attempt whose instances have answered in time. A machine that stands still for a second may leave one
 * without an answer: a further attempt has other users.
 */
export function closed<A extends { readonly answer: Revoked }>(attempt: () => Promise<A>): Promise<A> {
  let last: Revoked | null = null
  const look = async () => {
    const made = await ifServed(attempt())
    last = made?.answer ?? null
    return last?.state === 'closed' && made
  }
  return until(look, () => `no revocation was closed: ${JSON.stringify(last)}`)
}
