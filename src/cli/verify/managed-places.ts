/** The gateways of a run: how an administrator talks to them, and the instances of `--each-instance`. */

import { CommandFailed, type Terminal } from '../command.ts'
import type { FleetAnswer } from '../remote/endpoint-answers.ts'
import { Gateway, type GatewayOptions } from '../remote/gateway-client.ts'
import { noteIfPlain } from '../remote/gateway-options.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import type { WritePlace } from './change-writer.ts'
import type { CycleRequest } from './cycle-request.ts'
import type { Managing } from './made-objects.ts'
import type { Untested } from './run-record.ts'

interface PlaceSettings {
  readonly url: URL
  readonly name: string
  readonly host?: string | undefined
}

/** The addresses and options of the gateways. */
export interface Reached {
  readonly places: readonly PlaceSettings[]
  /** The options of requests, with the space of the run. */
  readonly shared: Omit<GatewayOptions, 'url'>
  /** The space in which Seats and keys are managed if the key may not do so in the space of the run. */
  readonly adminSpace: string
}

/** The meaning of an unknown key that was accepted before. */
export const OTHER_STORE =
  'It was accepted before: some of these addresses, or a load balancer behind one of them, lead to gateways with another store'

/** The clients for each place. @param space the space in which Seats and keys are managed */
export function managedPlaces({ places, shared, adminSpace }: Reached, space: string): Managing[] {
  return places.map(({ url, host, name }) => {
    const options = { ...shared, url, host, tries: 1 }
    const manage = new Gateway({ ...options, space })
    const admin = new Gateway({ ...options, space: adminSpace })
    return { name, manage, admin, close: () => Promise.all([manage.close(), admin.close()]) }
  })
}

/** Asks one gateway in one space, over a connection of its own. @throws CommandFailed, GatewayRefusal */
export async function askOnce<R>(
  { places: [first], shared }: Reached,
  ask: (gateway: Gateway) => Promise<R>,
  { place = first, space = shared.space }: { place?: PlaceSettings; space?: string } = {},
): Promise<R> {
  if (place === undefined) throw new Error('there is no place')
  const { url, host } = place
  const gateway = new Gateway({ ...shared, url, host, space })
  try {
    return await ask(gateway)
  } finally {
    await gateway.close()
  }
}

/**
 * The space in which the key manages Seats: the run's or the admin space.
 *
 * @throws GatewayRefusal, CommandFailed
 */
export async function managingSpace(reached: Reached): Promise<string> {
  let refusal: unknown = null
  for (const space of new Set([reached.shared.space, reached.adminSpace]))
    try {
      await askOnce(reached, (gateway) => gateway.get('/v1/seats', { limit: 1 }), { space })
      return space
    } catch (cause) {
      if (!(cause instanceof GatewayRefusal) || cause.problem.status !== 403) throw cause
      refusal ??= cause
    }
  throw refusal
}

/** Checks that each place has the canary and knows the API key. @throws CommandFailed that names the place */
export async function requireCanary(reached: Reached): Promise<void> {
  for (const place of reached.places)
    try {
      await askOnce(reached, (gateway) => gateway.get('/v1/canary'), { place })
    } catch (cause) {
      if (!(cause instanceof GatewayRefusal)) throw cause
      const { status, code } = cause.problem
      // The rights of the caller there do not matter.
      if (status === 403) continue
      if (code === 'route_not_found')
        throw new CommandFailed(`${place.name} has no GET /v1/canary: ${cause.message}`)
      throw new CommandFailed(
        `${place.name}: ${cause.message}${code === 'api_key_invalid' ? `. ${OTHER_STORE}` : ''}`,
      )
    }
}

type Instances = Awaited<ReturnType<typeof instancesOf>>

export const NO_INSTANCES: Instances = { ids: new Set(), places: [], untested: [] }

/** The instances of the fleet. @throws CommandFailed if no instance advertises an address */
export async function instancesOf(reached: Reached, terminal: Terminal) {
  const all = await listed(reached)
  const advertised = all.flatMap(({ id, place }) => (place === null ? [] : [{ id, ...place }]))
  if (advertised.length === 0)
    throw new CommandFailed(
      'no instance advertises an address: set advertise in the configuration of each, or give each address with --url',
    )
  const untested = all.flatMap(({ id, place }) =>
    place === null
      ? [untestedInstance(id, 'it advertises no address: set advertise in its configuration')]
      : [],
  )
  for (const [name, sharing] of Map.groupBy(advertised, ({ name }) => name)) {
    if (sharing.length === 1) continue
    const why = `${sharing.length} instances advertise ${name}, so that it is unknown which one answers: set advertise to an address of its own in the configuration of each`
    untested.push(...sharing.map(({ id }) => untestedInstance(id, why)))
  }
  const places = distinct(advertised)
  for (const { url } of places) noteIfPlain(url, terminal)
  return { ids: new Set(all.map(({ id }) => id)), places, untested }
}

/** The instances that started during the run at other addresses. @param reached the addresses of the run */
export async function joinedSince({ ids }: Instances, reached: Reached): Promise<Untested[]> {
  const isAsked = (place: PlaceSettings | null) => reached.places.some(({ name }) => name === place?.name)
  try {
    const all = await listed(reached)
    const joined = all.filter(({ id, place }) => !ids.has(id) && !isAsked(place))
    return joined.map(({ id }) => untestedInstance(id, 'it started during the run'))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    return [{ what: 'instances that started during the run', why: `they cannot be listed: ${why}` }]
  }
}

function untestedInstance(id: string, why: string): Untested {
  return { what: `instance ${id}`, why }
}

/** The instances; one that advertises no address has no place. */
async function listed(reached: Reached) {
  const ask = (gateway: Gateway) => gateway.get<FleetAnswer>('/v1/fleet')
  const { data } = await askOnce(reached, ask, { space: reached.adminSpace })
  const [first] = reached.places
  if (!Array.isArray(data)) throw new CommandFailed(`${first?.name} does not list its instances at /v1/fleet`)
  return (data as FleetAnswer['data']).map(({ id, url }) => ({
    id,
    place: typeof url === 'string' && URL.canParse(url) ? instanceAt(new URL(url), first?.url) : null,
  }))
}

/** The place of an instance, which serves the endpoints at the prefix and host of the public address. */
function instanceAt(url: URL, front: URL | undefined): PlaceSettings {
  const at = new URL(url)
  if (at.pathname === '/') at.pathname = front?.pathname ?? '/'
  return { url: at, name: nameOf(at), host: front?.host }
}

/** The places without repeated addresses. */
export function distinct(places: readonly PlaceSettings[]): PlaceSettings[] {
  return [...new Map(places.toReversed().map((place) => [place.name, place])).values()].toReversed()
}

export function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/$/, '')}`
}

/** The place for the writes of a cycle. */
export function writePlace({ name, manage, admin }: Managing): WritePlace<CycleRequest> {
  return {
    name,
    send: ({ path, at, ...sent }) => (at === 'admin' ? admin : manage).send(path, sent),
  }
}

/** The host that requests to the place name, without the port. */
export function hostOf({ url, host }: PlaceSettings): string {
  return (host === undefined ? url.hostname : new URL(`http://${host}`).hostname).toLowerCase()
}
