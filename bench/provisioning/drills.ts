/** The time until requests of the provider are closed while an instance or Redis is away. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from '../../test/fleet/fleet.ts'
import { say } from '../harness.ts'
import { draw, type Group, type Person } from './company.ts'
import type { Sent } from './provider.ts'
import { isRenamed, isRevoked, makeRenamedSeats, type Parts, together } from './week.ts'

/** Requests of each kind, all sent at the same moment. */
const EACH = 5

export interface Drilled {
  readonly drill: string
  readonly sent: readonly Sent[]
  readonly checked: number
  readonly stale: number
}

interface Drill {
  readonly name: string
  begin(fleet: Fleet): Promise<void>
  /** Ends it once the requests are closed. */
  end(fleet: Fleet): Promise<void>
}

const LAST = 2

const drills: readonly Drill[] = [
  { name: 'none', begin: async () => {}, end: async () => {} },
  {
    name: 'Redis is killed',
    begin: ({ redis }) => redis.kill(),
    end: ({ redis }) => redis.restart({ empty: true }),
  },
  {
    name: 'an instance ends by SIGKILL',
    begin: (fleet) => fleet.at(LAST).kill(),
    end: (fleet) => fleet.at(LAST).start(),
  },
  {
    name: 'an instance is frozen by SIGSTOP',
    begin: (fleet) => fleet.at(LAST).freeze(),
    async end(fleet) {
      fleet.at(LAST).thaw()
    },
  },
]

/** @param patience ms after which a frozen instance goes on although requests are open */
export async function measureDrills(parts: Parts, patience: number): Promise<Drilled[]> {
  const { fleet, provider, probes, company, random } = parts
  const measured: Drilled[] = []
  await together(company.people, (each) => provider.createUser(each))
  await together([...company.departments, ...company.projects], (each) => provider.createGroup(each))
  provider.sent.length = 0
  for (const { name, begin, end } of drills) {
    say(`drill: ${name}`)
    const able = company.people.filter(({ isValid }) => isValid)
    const people = draw(random, able, 5 * EACH)
    const groups = draw(
      random,
      company.departments.filter(({ name }) => !name.includes('renamed')),
      EACH,
    )
    await makeRenamedSeats(parts, groups)
    const { checked, stale } = probes
    await begin(fleet)
    const requests = Promise.all([
      ...groups.map((each) => isRenamed(parts, each, people)),
      ...people.map(changeOf(parts, groups)),
    ])
    const waiting = new AbortController()
    const frozenFor = sleep(patience, undefined, { signal: waiting.signal }).catch(() => {})
    await Promise.race([requests, frozenFor])
    waiting.abort()
    await end(fleet)
    await requests
    // An instance that was away has the same state, from its first decision on.
    for (const person of people) await check(parts, person)
    measured.push({
      drill: name,
      sent: provider.sent.splice(0),
      checked: probes.checked - checked,
      stale: probes.stale - stale,
    })
  }
  return measured
}

/** @param renamed groups that no other change is about, so that each decision has one reason */
function changeOf(parts: Parts, renamed: readonly Group[]) {
  const { company, provider, probes, random } = parts
  return async (person: Person, at: number) => {
    const free = company.projects.filter((each) => !renamed.includes(each))
    const own = free.find(({ members }) => members.has(person))
    const other = random.pick(free.filter(({ members }) => !members.has(person)))
    const kind = at % 5
    if (kind === 0 && own !== undefined)
      await probes.around(person, [own], () => provider.remove(own, person))
    else if (kind <= 1) await probes.around(person, [other], () => provider.add(other, person))
    else if (kind === 2) await probes.around(person, [other], () => provider.deactivate(person))
    else await isRevoked(parts, kind === 3 ? 'revokeTokens' : 'sessionRevoked', person)
  }
}

async function check({ company, probes }: Parts, person: Person): Promise<void> {
  const groups = [...company.departments, ...company.projects]
  for (const group of groups.filter(({ members }) => members.has(person)).slice(0, 2))
    await probes.check(person, group)
}
