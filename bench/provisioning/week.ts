/** A company's first provisioning and one week of its changes, at three instances on PostgreSQL and Redis. */

import { TOKEN } from '../../test/scim/support.ts'
import { type Fleet, SPACE, startFleet } from '../../test/fleet/fleet.ts'
import { Random } from '../../test/support/random.ts'
import { served } from '../../test/support/served.ts'
import { until } from '../../test/support/until.ts'
import { type Ending, say } from '../harness.ts'
import {
  type Kind,
  OPEN_ROUTES,
  type OpenExchange,
  openExchange,
  startOpenUpstream,
} from '../revocations/open-exchange.ts'
import { type Company, draw, type Group, newCompany, newPerson, type Person } from './company.ts'
import { type Credential, Probes } from './probes.ts'
import { AUDIENCE, Provider, type Sent } from './provider.ts'

/** Requests that the provider has in flight, except in a reorganisation. */
const AT_ONCE = 8
/** Milliseconds within which a client has to see the end of a stream. */
const PATIENCE = 30_000
const SEAT = 'Opener'
const OPENING = ['trainings:list']

export interface Size {
  readonly users: number
  readonly groups: number
  readonly joiners: number
  readonly movers: number
  readonly leavers: number
  readonly renamed: number
  /** Users of each of Global Token Revocation and events. */
  readonly revoked: number
  /** Users who change their department at the same moment. */
  readonly reorganised: number
}

export interface Day {
  readonly name: string
  readonly seconds: number
  readonly requests: number
  /** Statements of all instances at the store, with those of the decisions that are compared. */
  readonly statements: number
  readonly checked: number
  readonly stale: number
}

export interface Parts {
  readonly ending: Ending
  readonly fleet: Fleet
  readonly company: Company
  readonly random: Random
  readonly provider: Provider
  readonly probes: Probes
  /** Milliseconds from a deactivation to the end of each stream that its client saw. */
  readonly cuts: number[]
  /** Streams that did not end. */
  uncut: number
}

export interface Week {
  readonly days: readonly Day[]
  /** Without those of the reorganisation. */
  readonly sent: readonly Sent[]
  readonly reorganised: readonly Sent[]
  readonly cuts: readonly number[]
  readonly uncut: number
}

export async function startCompany(
  ending: Ending,
  seed: number,
  { users, groups }: Pick<Size, 'users' | 'groups'>,
): Promise<Parts> {
  const target = await startOpenUpstream(ending.t)
  const fleet = await startFleet(ending.t, {
    proxies: [],
    postgres: { fsync: true, settings: ["log_statement = 'all'", 'log_parameter_max_length = 0'] },
    upstream: { target, routes: ['GET /v1/trainings: trainings:list', ...OPEN_ROUTES] },
    acme: [`scim: { token: ${TOKEN} }`, 'seats_from: scim'],
    oidc: ['revocation: true', `events: { audience: "${AUDIENCE}" }`],
  })
  const random = new Random(seed)
  const parts = {
    ...{ ending, fleet, random, company: newCompany(random, users, groups) },
    ...{ provider: new Provider(ending, fleet), probes: new Probes(ending, fleet), cuts: [], uncut: 0 },
  }
  const { departments, projects } = parts.company
  await together([...departments, ...projects], ({ name, space }) => makeSeat(fleet, name, space))
  await makeSeat(fleet, SEAT, SPACE)
  return parts
}

export async function measureWeek(parts: Parts, size: Size): Promise<Week> {
  const { provider, company, cuts } = parts
  const { departments, projects, people } = company
  const days = [
    await dayOf(parts, 'nothing, for comparison', () => new Promise((resolve) => setTimeout(resolve, 3000))),
  ]
  const day = async (name: string, work: () => Promise<void>) => days.push(await dayOf(parts, name, work))
  await day(`${people.length} users are created`, () => together(people, (each) => provider.createUser(each)))
  const groups = [...departments, ...projects]
  await day(`${groups.length} groups with members are created`, () =>
    together(groups, (each) => provider.createGroup(each)),
  )
  const cast = castOf(parts, size)
  await day(`${size.joiners} joiners`, () => together(cast.joiners, (each) => joins(parts, each)))
  await day(`${size.movers} movers`, () => together(cast.movers, (each) => moves(parts, each)))
  const leavers = await Promise.all(cast.leavers.map((each) => withCredentials(parts, each)))
  await day(`${size.leavers} leavers`, () => together(leavers, (each) => leaves(parts, each)))
  await makeRenamedSeats(parts, cast.renamed)
  await day(`${size.renamed} groups are renamed`, () =>
    together(cast.renamed, (each) => isRenamed(parts, each)),
  )
  await day(`${2 * size.revoked} users are revoked by the provider`, () =>
    together(cast.revoked, ([how, person]) => isRevoked(parts, how, person)),
  )
  const sent = provider.sent.splice(0)
  await day(`a reorganisation: ${2 * size.reorganised} changes at once`, async () => {
    await Promise.all(cast.reorganised.map((each) => moves(parts, each)))
  })
  await day('the end: decisions of all kinds of users', () => endOf(parts))
  return { days, sent, reorganised: provider.sent.splice(0), cuts, uncut: parts.uncut }
}

type How = 'revokeTokens' | 'sessionRevoked'

/** Who does what: each user has one part in the week. */
function castOf({ company, random }: Parts, size: Size) {
  const { joiners: joining, movers, leavers, revoked, reorganised } = size
  const drawn = draw(random, company.people, movers + leavers + 2 * revoked + reorganised)
  const next = (count: number) => drawn.splice(0, count)
  const hows: readonly How[] = ['revokeTokens', 'sessionRevoked']
  const joiners = Array.from({ length: joining }, (_, at) => newPerson(company.people.length + at))
  return {
    joiners,
    movers: next(movers),
    leavers: next(leavers),
    revoked: hows.flatMap((how) => next(revoked).map((person) => [how, person] as const)),
    reorganised: next(reorganised),
    renamed: draw(random, company.projects, size.renamed),
  }
}

/** Refused before, allowed after: the gateway forgets that it does not know the user. */
async function joins({ company, random, provider, probes }: Parts, person: Person): Promise<void> {
  company.people.push(person)
  const group = random.pick(company.departments)
  await probes.check(person, group)
  await provider.createUser(person)
  await probes.around(person, [group], () => provider.add(group, person))
}

/** Removed from the department, and added to another one. */
async function moves({ company, random, provider, probes }: Parts, person: Person): Promise<void> {
  const from = company.departments.find(({ members }) => members.has(person))
  const to = random.pick(company.departments.filter((each) => each !== from))
  if (from === undefined) throw new Error('a user without a department')
  await probes.around(person, [from, to], () => provider.remove(from, person))
  await probes.around(person, [from, to], () => provider.add(to, person))
}

interface Leaver {
  readonly person: Person
  readonly credentials: readonly Credential[]
}

/** A token, a session and an API key. */
async function withCredentials({ fleet, company, probes }: Parts, person: Person): Promise<Leaver> {
  const group = company.departments.find(({ members }) => members.has(person))
  const space = group?.space ?? ''
  const { sub } = person
  const { token } = await fleet.session({ user: sub, providerSid: sub, hashPerm: [] })
  const body = { name: sub, seats: [SEAT], owner: sub }
  const { status, json } = await served(() => fleet.admin(fleet.first, 'POST', '/v1/api-keys', body))
  if (status !== 200) throw new Error(`an API key: ${status}`)
  return {
    person,
    credentials: [
      { authorization: `Bearer ${await probes.tokenOf(person)}`, space },
      { authorization: `Bearer ${token}`, space },
      { 'x-api-key': json.key, space: SPACE },
    ],
  }
}

/** With a WebSocket or a download at each instance for each credential. */
async function leaves(parts: Parts, { person, credentials }: Leaver): Promise<void> {
  const { fleet, provider, probes } = parts
  for (const credential of credentials) await probes.expect(person.sub, credential, true)
  const opening = fleet.gateways.flatMap(({ port }, at) =>
    credentials.map((each, of) => opened(port, (at + of) % 2 === 0 ? 'websocket' : 'stream', each)),
  )
  const exchanges = await Promise.all(opening)
  const begun = Date.now()
  await provider.deactivate(person)
  await Promise.all(credentials.map((each) => probes.expect(person.sub, each, false)))
  const ends = exchanges.map(({ end }) => Promise.race([end, late()]))
  for (const end of await Promise.all(ends))
    if (end === null) parts.uncut++
    else parts.cuts.push(end - begun)
  for (const exchange of exchanges) exchange.close()
}

/** Tries again, as on a busy machine an instance may have no lease for a while. */
function opened(port: number, kind: Kind, credential: Credential): Promise<OpenExchange> {
  return until(() => openExchange(port, kind, credential).catch(() => null), 'an open exchange')
}

function late(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), PATIENCE).unref())
}

/** The Seats of the names that groups get. */
export async function makeRenamedSeats({ fleet }: Parts, groups: readonly Group[]): Promise<void> {
  await together(groups, ({ name, space }) => makeSeat(fleet, `${name} renamed`, `${space}-renamed`))
}

/**
 * Some members lose the Seat of the old name, and get that of the new one.
 *
 * @param busy users whose own change is under way, and may count before its 2xx
 */
export async function isRenamed(
  { random, provider, probes }: Parts,
  group: Group,
  busy: readonly Person[] = [],
): Promise<void> {
  const { name, space, members } = group
  const quiet = [...members].filter((each) => each.isValid && !busy.includes(each))
  const some = draw(random, quiet, 3)
  const ask = async (holders: Iterable<Person>, space: string) => {
    const asked = { space, members: new Set(holders) }
    await Promise.all(some.map((person) => probes.check(person, asked)))
  }
  await ask(members, space)
  await ask([], `${space}-renamed`)
  await provider.rename(group, `${name} renamed`, `${space}-renamed`)
  await Promise.all([ask([], space), ask(members, group.space)])
}

export async function isRevoked(
  { company, provider, probes }: Parts,
  how: How,
  person: Person,
): Promise<void> {
  const groups = company.departments.filter(({ members }) => members.has(person))
  await probes.around(person, groups, () => provider[how](person))
}

/** Users drawn at random, each asked about a group of theirs and another one. */
async function endOf({ company, random, probes }: Parts): Promise<void> {
  const { departments, projects, people } = company
  const groups = [...departments, ...projects]
  await together(draw(random, people, 300), async (person) => {
    const own = groups.filter(({ members }) => members.has(person))
    for (const group of [...own, random.pick(groups)]) await probes.check(person, group)
  })
}

async function dayOf(
  { fleet, provider, probes }: Parts,
  name: string,
  work: () => Promise<void>,
): Promise<Day> {
  say(name)
  const [statements, sent] = [statementsOf(fleet), provider.sent.length]
  const { checked, stale } = probes
  const begun = performance.now()
  await work()
  return {
    name,
    seconds: (performance.now() - begun) / 1000,
    requests: provider.sent.slice(sent).reduce((sum, { requests }) => sum + requests, 0),
    statements: statementsOf(fleet) - statements,
    checked: probes.checked - checked,
    stale: probes.stale - stale,
  }
}

/** The statements that the server has logged. */
function statementsOf({ postgres }: Fleet): number {
  let count = 0
  for (const _ of postgres.log.matchAll(/ (?:statement|execute [^:]*): /g)) count++
  return count
}

async function makeSeat(fleet: Fleet, name: string, space: string): Promise<void> {
  const body = { name, spaces: [space], permissions: OPENING }
  const { status, body: text } = await served(() => fleet.admin(fleet.first, 'POST', '/v1/seats', body))
  // A 503 leaves it open whether the Seat was made.
  if (status !== 200 && status !== 409) throw new Error(`${status} ${text}`)
}

/** A few at once. */
export async function together<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values()
  const worker = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
