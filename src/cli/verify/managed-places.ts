/** The gateways of a run, as an administrator talks to them. */

import { CommandFailed } from '../command.ts'
import { Gateway, type GatewayOptions } from '../remote/gateway-client.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import type { Managing } from './made-objects.ts'

export interface PlaceSettings {
  readonly url: URL
  readonly name: string
  readonly host?: string | undefined
}

/** How the gateways are reached. */
export interface Reached {
  readonly places: readonly PlaceSettings[]
  /** Its space is that of the run. */
  readonly shared: Omit<GatewayOptions, 'url'>
  /** Where Seats and keys are managed, if the key may not do that in the space of the run. */
  readonly adminSpace: string
}

/** What an unknown key means that was accepted before. */
export const OTHER_STORE =
  'It was accepted before: some of these addresses, or a load balancer behind one of them, lead to gateways with another store'

/** Gateways as an administrator talks to them, one for each place. */
export class ManagedPlaces {
  readonly all: readonly Managing[]

  /** @param space in which Seats and keys are managed */
  constructor({ places, shared, adminSpace }: Reached, space: string) {
    this.all = places.map(({ url, host, name }) => {
      const options = { ...shared, url, host, tries: 1 }
      return {
        name,
        manage: new Gateway({ ...options, space }),
        admin: new Gateway({ ...options, space: adminSpace }),
      }
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.all.flatMap(({ manage, admin }) => [manage.close(), admin.close()]))
  }
}

/** @throws CommandFailed, GatewayRefusal */
export async function askOnce<R>(
  shared: Reached['shared'],
  { url, host }: PlaceSettings,
  ask: (gateway: Gateway) => Promise<R>,
  space = shared.space,
): Promise<R> {
  const gateway = new Gateway({ ...shared, url, host, space })
  try {
    return await ask(gateway)
  } finally {
    await gateway.close()
  }
}

/**
 * The space in which the key manages: that of the run, or else the admin space.
 *
 * @throws GatewayRefusal, CommandFailed
 */
export async function managingSpace({ places, shared, adminSpace }: Reached): Promise<string> {
  const [first] = places
  if (first === undefined) throw new Error('there is no place')
  let refusal: unknown = null
  for (const space of new Set([shared.space, adminSpace]))
    try {
      await askOnce(shared, first, (gateway) => gateway.get('/v1/seats', { limit: 1 }), space)
      return space
    } catch (cause) {
      if (!(cause instanceof GatewayRefusal) || cause.problem.status !== 403) throw cause
      refusal ??= cause
    }
  throw refusal
}

/**
 * Every place must have the route that the reads ask for, and know the API key.
 *
 * @throws CommandFailed, which names the place
 */
export async function requireCanary({ places, shared }: Reached): Promise<void> {
  for (const place of places)
    try {
      await askOnce(shared, place, (gateway) => gateway.get('/v1/canary'))
    } catch (cause) {
      if (!(cause instanceof GatewayRefusal)) throw cause
      const { status, code } = cause.problem
      // The caller's own rights there do not matter.
      if (status === 403) continue
      if (code === 'route_not_found')
        throw new CommandFailed(`${place.name} has no GET /v1/canary: ${cause.message}`)
      throw new CommandFailed(
        `${place.name}: ${cause.message}${code === 'api_key_invalid' ? `. ${OTHER_STORE}` : ''}`,
      )
    }
}
