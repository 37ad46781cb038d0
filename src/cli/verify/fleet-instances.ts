/** The instances of `--each-instance`: where each is asked, and which of them are not tested. */

import { CommandFailed, type Terminal } from '../command.ts'
import type { FleetAnswer } from '../remote/endpoint-answers.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { noteIfPlain } from '../remote/gateway-options.ts'
import { askOnce, type PlaceSettings, type Reached } from './managed-places.ts'
import type { Untested } from './run-record.ts'

export interface Instances {
  readonly ids: ReadonlySet<string>
  readonly places: readonly PlaceSettings[]
  readonly untested: readonly Untested[]
}

export const NO_INSTANCES: Instances = { ids: new Set(), places: [], untested: [] }

/** @throws CommandFailed: none of them advertises an address */
export async function instancesOf(reached: Reached, terminal: Terminal): Promise<Instances> {
  const all = await listed(reached)
  const found = all.flatMap(({ id, place }) => (place === null ? [] : [{ id, ...place }]))
  if (found.length === 0)
    throw new CommandFailed(
      'no instance advertises an address: set advertise in the configuration of each, or give each address with --url',
    )
  const untested = all.flatMap(({ id, place }) =>
    place === null
      ? [untestedInstance(id, 'it advertises no address: set advertise in its configuration')]
      : [],
  )
  for (const [name, sharing] of Map.groupBy(found, ({ name }) => name)) {
    if (sharing.length === 1) continue
    const why = `${sharing.length} instances advertise ${name}, so that it is unknown which one answers: set advertise to an address of its own in the configuration of each`
    untested.push(...sharing.map(({ id }) => untestedInstance(id, why)))
  }
  const places = distinct(found)
  for (const { url } of places) noteIfPlain(url, terminal)
  return { ids: new Set(all.map(({ id }) => id)), places, untested }
}

/** The instances that started during the run, unless at an address that was asked. @param asked in the run */
export async function joinedSince({ ids }: Instances, asked: Reached): Promise<Untested[]> {
  const isAsked = (place: PlaceSettings | null) => asked.places.some(({ name }) => name === place?.name)
  try {
    const all = await listed(asked)
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

interface Listed {
  readonly id: string
  /** Null: it advertises no address. */
  readonly place: PlaceSettings | null
}

async function listed({ places, shared, adminSpace }: Reached): Promise<Listed[]> {
  const [first] = places
  if (first === undefined) throw new Error('there is no place')
  const ask = (gateway: Gateway) => gateway.get<FleetAnswer>('/v1/fleet')
  const { data } = await askOnce(shared, first, ask, adminSpace)
  if (!Array.isArray(data)) throw new CommandFailed(`${first.name} does not list its instances at /v1/fleet`)
  return (data as FleetAnswer['data']).map(({ id, url }) => ({
    id,
    place: typeof url === 'string' && URL.canParse(url) ? instanceAt(new URL(url), first.url) : null,
  }))
}

/** It serves the endpoints at the prefix and the host of the public address. */
function instanceAt(url: URL, front: URL): PlaceSettings {
  const at = new URL(url)
  if (at.pathname === '/') at.pathname = front.pathname
  return { url: at, name: nameOf(at), host: front.host }
}

/** The same address is asked once. */
export function distinct(places: readonly PlaceSettings[]): PlaceSettings[] {
  return [...new Map(places.toReversed().map((place) => [place.name, place])).values()].toReversed()
}

export function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/$/, '')}`
}
